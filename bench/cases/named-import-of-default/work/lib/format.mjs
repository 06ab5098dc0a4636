export default function format(line) {
  return '> ' + line;
}
