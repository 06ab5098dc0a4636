export function shout(t) {
  return t.toUpperCase() + '!';
}
