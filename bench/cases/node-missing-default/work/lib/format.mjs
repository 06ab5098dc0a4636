// 3.0: named exports only
export function format(key, value) {
  return `${key.padEnd(3)}${value.toFixed(2)}`;
}

export const width = 3;
