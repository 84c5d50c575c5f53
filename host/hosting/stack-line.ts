// StackLine makes one line of the text of a JavaScript error with its stack, with the location in the sources where it was thrown, as
// tools print it: `TypeError: x is not a function at src/flag.ts:31:5`.
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Maximum length of the line without the location, in UTF-16 units. */
const UNITS_MAX = 500;
const FRAME = /^\s+at .*$/m;
const LOCATION = /(?<=[\s(]|^)((?:file:\/\/|\/)[^\s()]+?)((?::\d+){1,2})(?=[\s)]|$)/;

export function lineOf(text: string): string {
  const stackIndex = text.search(FRAME);
  const words = stackIndex < 0 ? text : text.slice(0, stackIndex);
  const frames = stackIndex < 0 ? [] : text.slice(stackIndex).split('\n');
  // Node puts the location of a syntax error, and the source line, before the error.
  const [header, location] = /^(file:\/\/\S+:\d+)\n[\s\S]*?\n(?=\w*Error\b)/.exec(words) ?? [''];
  // Frames of libraries are skipped: the author of the program looks at the program's own line first.
  const frame =
    location ?? frames.find((one) => LOCATION.test(one) && !one.includes('/node_modules/'));
  const line = words.slice(header.length).replaceAll(/\s+/g, ' ').trim().slice(0, UNITS_MAX);
  const [, file, position] = LOCATION.exec(frame ?? '') ?? [];
  return file === undefined ? line : `${line} at ${pathOf(file)}${position}`;
}

/** Returns the path relative to the working folder if the file is inside it, else the absolute path. */
function pathOf(file: string): string {
  const path = file.startsWith('file:') ? fileURLToPath(file) : file;
  const inside = relative(process.cwd(), path);
  return inside.startsWith('..') ? path : inside;
}
