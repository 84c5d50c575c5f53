// Heads of requests and responses for tests of rules, written as they are on the wire. The lines are read without any check:
// the rules have to hold for every head that a reader lets through.
import { FieldList, type Framing, type RequestHead } from '../../../http1/index.ts';
import type { Arrival, OwnService } from '../../../forward/arrival.ts';

/** Fields, a line each: `Host: shop.example.com`. */
export function fieldsOf(lines: readonly string[]): FieldList {
  return new FieldList(
    lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
}

/** Fields as lines. */
export function linesOf(flat: readonly string[]): readonly string[] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${flat[at + 1]}`] : []));
}

/** The head of a request; the first line is the request line. */
export function headOf([first = '', ...lines]: readonly string[]): RequestHead {
  const [method = '', target = '', protocol = ''] = first.split(' ');
  const fields = fieldsOf(lines);
  const absolute = /^(https?):\/\/([^/?]*)(.*)$/.exec(target);
  const length = fields.first('content-length');
  const framing: Framing = fields.has('transfer-encoding')
    ? { kind: 'chunked' }
    : length === undefined
      ? { kind: 'none' }
      : { kind: 'length', bytes: Number(length) };
  const path = absolute?.[3] ?? target;
  return {
    method,
    target,
    path: path.startsWith('/') || path === '*' ? path : `/${path}`,
    authority: absolute?.[2] ?? fields.first('host') ?? '',
    scheme: absolute?.[1] as 'http' | 'https' | undefined,
    version: protocol.endsWith('1.0') ? '1.0' : '1.1',
    fields,
    framing,
    keepsOpen: true,
    expectsContinue: fields.first('expect')?.toLowerCase() === '100-continue',
  };
}

export const SHOP: OwnService = {
  service: 'web',
  project: 'shop',
  port: 9000,
  baseDomain: 'apps.example.com',
};

export const FROM_INTERNET: Arrival = { caller: { kind: 'internet' }, isMounted: false };
export const FROM_LOCAL: Arrival = { caller: { kind: 'local' }, isMounted: false };
export const FROM_SERVICE: Arrival = {
  caller: { kind: 'service', project: 'bank', service: 'ledger' },
  isMounted: false,
};
export const UNDER_MOUNT: Arrival = { caller: { kind: 'internet' }, isMounted: true };
