// ArrayText writes arrays as PostgreSQL reads them. `pg` does so, too, but quotes numbers and takes three times as long, and arrays are
// what most statements of the journal consist of.
import type { Parameter } from './database-session.ts';

type Elements = Extract<Parameter, readonly unknown[]>;

/** Returns a parameter as `pg` may send it: an array as its text. */
export function sentParameter(value: Parameter): Exclude<Parameter, Elements> {
  return isArray(value) ? arrayText(value) : value;
}

export function arrayText(elements: Elements): string {
  let text = '';
  for (const element of elements) {
    if (typeof element === 'string') text += `,"${escaped(element)}"`;
    else text += element === null ? ',NULL' : `,${element}`;
  }
  return `{${text.slice(1)}}`;
}

function escaped(element: string): string {
  return element.includes('"') || element.includes('\\')
    ? element.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`)
    : element;
}

function isArray(value: Parameter): value is Elements {
  return Array.isArray(value);
}
