export const PRICE = 650;
export function line(day, cents) {
  if (!day.dish) throw new Error(`no dish on ${day.name}`);
  return `${day.name}: ${day.dish}, ${(cents / 100).toFixed(2)}`;
}
