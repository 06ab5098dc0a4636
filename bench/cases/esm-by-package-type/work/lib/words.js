exports.words = (text) => [...new Set(text.toLowerCase().match(/[a-z]+/g) || [])];
