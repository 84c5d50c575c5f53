// FaultLine is the text of a guest's fault on one line, with the location in the sources where it was thrown, as tools print it. The
// error of a process has its whole stack, in the words of its language.
import type { GuestFault } from '@svc/model/guest-fault';
import { lineOf } from '../hosting/stack-line.ts';

/** Maximum length of the line without the location, in UTF-16 units. */
const UNITS_MAX = 500;
const PYTHON_FRAME = /^ *File "([^"\n]+)", line (\d+)/gm;
const PYTHON_LIBRARIES = /\/(?:site|dist)-packages\/|\/lib\/python\d|^</;

/** Returns undefined if the fault has no words of the guest. */
export function faultLine({ guestMessage }: GuestFault): string | undefined {
  if (guestMessage === undefined) return undefined;
  if (guestMessage.startsWith('Traceback ')) return pythonLine(guestMessage);
  return /^\s+at /m.test(guestMessage) ? lineOf(guestMessage) : guestMessage;
}

/** The last line of a traceback is the error, and the last frame is where it was thrown. */
function pythonLine(traceback: string): string {
  const frames = [...traceback.matchAll(PYTHON_FRAME)];
  const own = frames.findLast(([, file]) => !PYTHON_LIBRARIES.test(file!)) ?? frames.at(-1);
  const error = (traceback.trimEnd().split('\n').at(-1) ?? '').trim().slice(0, UNITS_MAX);
  return own === undefined ? error : `${error} at ${own[1]}:${own[2]}`;
}
