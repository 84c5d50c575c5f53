// ResponseFields: which fields of a response pass. All do as they were written, except those of the hop. The mark of a
// response that a proxy made itself passes only from a service whose identity was checked: a process cannot have it. Behind the gateway
// the mark names a proxy or nobody, since the gateway marks its own answers.
import { ANSWERED_BY_PROXY } from '@svc/client';
import type { FieldList } from '@svc/http1';
import { fieldClass } from './field-class.ts';
import { nominatedFields } from './nominated-fields.ts';

/** `instance`: a service behind the gateway. */
export type Responder = 'process' | 'service' | 'instance';

/** Returns the fields to send: name, value, name, value and so on. */
export function passedResponseFields(fields: FieldList, responder: Responder): string[] {
  const nominated = nominatedFields(fields);
  const passed: string[] = [];
  const { flat } = fields;
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!;
    const kind = fieldClass(name);
    if (kind === 'hop' || kind === 'connection') continue;
    if (kind === 'answered-by' && !mayMark(flat[at + 1]!, responder)) continue;
    if (nominated !== undefined && kind === 'end-to-end' && nominated.has(name.toLowerCase()))
      continue;
    passed.push(name, flat[at + 1]!);
  }
  return passed;
}

function mayMark(value: string, responder: Responder): boolean {
  return responder === 'service' || (responder === 'instance' && value === ANSWERED_BY_PROXY);
}
