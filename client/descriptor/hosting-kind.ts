// HostingKind: the four kinds of services that hosting and protocol distinguish.
import { notOne, type Problems } from './problem.ts';
import { WEB_PROTOCOL } from './service-descriptor.ts';

/** A web-hosted service is `process` with the protocol http/1.1; any other process has components. */
export type HostingKind = 'embedded' | 'process' | 'wasm' | 'web';

type Descriptor = Readonly<Record<string, unknown>>;

const HOSTINGS: ReadonlySet<unknown> = new Set(['embedded', 'process', 'wasm']);
/** Protocol of a process with components. */
export const PROCESS_PROTOCOL = /^svc\/[1-9]\d{0,5}$/;
export const WIT_VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}$/;

/** Returns the kind that a descriptor declares; undefined if hosting or protocol leave it open. */
export function hostingKind({
  hosting = 'embedded',
  protocol,
}: Descriptor): HostingKind | undefined {
  if (hosting === 'embedded' || hosting === 'wasm') return hosting;
  if (hosting !== 'process') return undefined;
  if (protocol === WEB_PROTOCOL) return 'web';
  return typeof protocol === 'string' && PROCESS_PROTOCOL.test(protocol) ? 'process' : undefined;
}

export function checkHosting(value: unknown, problems: Problems): void {
  if (!HOSTINGS.has(value)) problems.add(notOne(value, 'embedded, process or wasm'));
}

/** Checks the protocol, which each hosting has words of its own for. */
export function checkProtocol({ hosting: declared, protocol }: Descriptor, problems: Problems) {
  const hosting = declared === undefined ? 'embedded' : declared;
  if (hosting === 'embedded') {
    if (protocol !== undefined)
      problems.add(
        declared === undefined
          ? 'may not be declared without hosting: declare hosting process or wasm, too'
          : 'may not be declared: the code of an embedded service is in the same process',
      );
  } else if (hosting === 'process' || hosting === 'wasm') {
    const [words, isOne] =
      hosting === 'wasm'
        ? ['the version of the WIT package, such as 0.2.0', isWitVersion]
        : [`${WEB_PROTOCOL} for a web-hosted service, or svc/1 for components`, isProcessProtocol];
    if (protocol === undefined) problems.add(`is missing: write ${words}`);
    else if (typeof protocol !== 'string' || !isOne(protocol))
      problems.add(notOne(protocol, words));
  } else if (protocol !== undefined && typeof protocol !== 'string') problems.add('is not a text');
}

function isWitVersion(text: string): boolean {
  return WIT_VERSION.test(text);
}

function isProcessProtocol(text: string): boolean {
  return text === WEB_PROTOCOL || PROCESS_PROTOCOL.test(text);
}
