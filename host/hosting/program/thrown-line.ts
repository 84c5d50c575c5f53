// ThrownLine is the text of an error of a program on one line, with the location in the program's files where it was
// thrown.
import { textOf } from '@svc/components/thrown-text';
import { lineOf } from '../stack-line.ts';

export function thrownLine(thrown: unknown): string {
  return lineOf(textOf(thrown));
}
