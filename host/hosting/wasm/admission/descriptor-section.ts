// Reads the module descriptor out of a component's custom section; it is as untrusted as the rest of the
// component.
import {
  DESCRIPTOR_BYTES_MAX,
  DESCRIPTOR_SECTION,
  type ModuleDescriptor,
  PROTOCOL_VERSIONS,
  type ProtocolVersion,
  isProtocolVersion,
  parseModuleDescriptor,
} from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import type { CustomSection } from '../binary/component-outline.ts';
import { printable } from '../binary/printable.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The versions of svc:runtime that this host runs, for messages. */
export const SUPPORTED_VERSIONS_TEXT = PROTOCOL_VERSIONS.join(' and ');

/**
 * Reads the descriptor of a module whose interfaces are of `version`. Throws SVC_MODULE_NO_DESCRIPTOR,
 * SVC_MODULE_BAD_DESCRIPTOR, and SVC_MODULE_OTHER_VERSION when the descriptor names another version.
 */
export function readDescriptor(
  customSections: readonly CustomSection[],
  version: ProtocolVersion,
): ModuleDescriptor {
  const [section, second] = customSections.filter(({ name }) => name === DESCRIPTOR_SECTION);
  if (section === undefined)
    throw new SvcError(
      'SVC_MODULE_NO_DESCRIPTOR',
      `The module has no section '${DESCRIPTOR_SECTION}' that describes its components and ` +
        'routes. Build it with `svc build`.',
    );
  if (second !== undefined) throw badDescriptor(['it comes twice']);
  if (section.bytes.length > DESCRIPTOR_BYTES_MAX)
    throw badDescriptor([
      `it has ${section.bytes.length} bytes, and the limit is ${DESCRIPTOR_BYTES_MAX}`,
    ]);
  const result = parseModuleDescriptor(decode(section.bytes));
  if (!result.ok) throw badDescriptor(result.problems);
  const { protocol } = result.descriptor;
  if (protocol !== version)
    throw new SvcError(
      'SVC_MODULE_OTHER_VERSION',
      isProtocolVersion(protocol)
        ? `The module's descriptor names svc:runtime ${protocol}, and its code uses ${version}. ` +
            'Build both with one SDK.'
        : `The module was built for svc:runtime ${protocol}, and this host runs modules of ` +
            `${SUPPORTED_VERSIONS_TEXT}. Build it with an SDK of such a version, or run it on a newer host.`,
    );
  return result.descriptor;
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badDescriptor(['it is not UTF-8']);
  }
}

function badDescriptor(problems: readonly string[]): SvcError {
  const list = problems.map((problem) => printable(problem, 300)).join('; ');
  return new SvcError(
    'SVC_MODULE_BAD_DESCRIPTOR',
    `The module's section '${DESCRIPTOR_SECTION}' cannot be used: ${list}. ` +
      'Build the module again with the current `svc build`.',
  );
}
