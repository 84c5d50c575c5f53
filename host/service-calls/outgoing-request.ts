// OutgoingRequest: a request to another service that was checked. The module is not trusted: a text that could end a line,
// another path, or a field that says where the body ends would make a second request of it.
//
// Invariants: what this file returns can be written as one head. Every field that frames the body, names the service, belongs to
// the connection or states a trace is the runtime's.
import { serviceReferenceOf, type ServiceReference } from '@svc/client';
import { FieldList } from '@svc/http1';
import { isFieldName, isFieldValue } from '@svc/kit/header-grammar';
import { printable } from '@svc/kit/printable';
import type { Metadata } from '@svc/model/call';
import type { HeaderList } from '@svc/model/endpoint';
import { type ServiceRequest, serviceCallDenied } from '@svc/model/service-call';

export interface OutgoingRequest {
  readonly called: ServiceReference;
  readonly method: string;
  /** Path with its query, in origin form. */
  readonly path: string;
  /** Fields of the module, and those of the trace. */
  readonly fields: FieldList;
  readonly body: Uint8Array;
}

/** Header lines, and bytes of path and headers together: as many as a service takes by its defaults. */
const HEADERS_MAX = 100;
const HEAD_BYTES_MAX = 16 * 1024;
const METHOD_LENGTH_MAX = 32;
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible ASCII but `#`, which begins with a slash. */
const PATH = /^\/[!"$-~]*$/;
/** CONNECT makes a tunnel, and TRACE sends headers back. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);
const TRACE_FIELDS: ReadonlySet<string> = new Set(['traceparent', 'tracestate']);
/** The runtime writes the length of the body, and sends it at once. Other fields of the hop are removed with those of all calls. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['content-length', 'expect', ...TRACE_FIELDS]);
const SHOWN_MAX = 100;

/** `metadata`: has the trace. Throws SVC_SERVICE_CALL_DENIED. */
export function outgoingRequest(
  { service, method, path, headers, body }: ServiceRequest,
  metadata: Metadata,
  { requestBytesMax }: { readonly requestBytesMax: number },
): OutgoingRequest {
  const called = serviceReferenceOf(service);
  if (called === undefined)
    throw serviceCallDenied(
      `${shown(service)} is no name of a service: write 'billing', or 'ledger.finance' for a service of another project`,
    );
  if (method.length > METHOD_LENGTH_MAX || !METHOD.test(method) || REFUSED_METHODS.has(method))
    throw serviceCallDenied(`${shown(method)} is no method that a request may have`);
  checkHeadBytes(path.length);
  if (!PATH.test(path))
    throw serviceCallDenied(
      `the path ${shown(path)} must begin with a slash and have no space, control, # or character beyond ASCII: percent-encode those`,
    );
  if (body.length > requestBytesMax)
    throw serviceCallDenied(
      `its body has ${body.length} bytes, and the most is ${requestBytesMax} (svc.calls.request-bytes-max)`,
    );
  return { called, method, path, fields: fieldsOf(headers, path, metadata), body };
}

function fieldsOf(headers: HeaderList, path: string, metadata: Metadata): FieldList {
  if (headers.length > HEADERS_MAX)
    throw serviceCallDenied(`it has ${headers.length} headers, and the most is ${HEADERS_MAX}`);
  const flat: string[] = [];
  let bytes = path.length;
  for (const [name, given] of headers) {
    checkHeadBytes((bytes += name.length + given.length));
    const value = trimmed(given);
    if (!isFieldName(name)) throw serviceCallDenied(`it has a header named ${shown(name)}`);
    if (!isFieldValue(value) && value !== '')
      throw serviceCallDenied(`the header ${shown(name)} has a value that HTTP cannot carry`);
    if (!OWN_FIELDS.has(name.toLowerCase())) flat.push(name, value);
  }
  for (const [name, value] of metadata)
    if (TRACE_FIELDS.has(name) && isFieldValue(value)) flat.push(name, value);
  return new FieldList(flat);
}

/** Checks the length of what was read so far, so that no text of any length is examined. */
function checkHeadBytes(bytes: number): void {
  if (bytes > HEAD_BYTES_MAX)
    throw serviceCallDenied(`its path and headers have more than ${HEAD_BYTES_MAX} bytes`);
}

/** Returns the value without the white space that HTTP allows around it. */
function trimmed(value: string): string {
  let [from, to] = [0, value.length];
  while (from < to && isBlank(value.charCodeAt(from))) from++;
  while (to > from && isBlank(value.charCodeAt(to - 1))) to--;
  return value.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function shown(text: string): string {
  const short = text.slice(0, SHOWN_MAX);
  return `'${printable(short.length < text.length ? `${short}…` : short)}'`;
}
