// ModuleLabel: the label `io.svc.module` of a module's image, which says what the image has without a look into its layers. Its
// value is an object of JSON; fields that are not known are ignored. docs/reference/module-images.md documents it.
import { type Digest, isDigest } from './digest.ts';
import { invalid, parseObject } from './image-json.ts';

export const MODULE_LABEL = 'io.svc.module';
/** Maximum length of the label, in characters. */
const LABEL_LENGTH_MAX = 4096;
/** Versions are compared by those who read the label, so it only has to be short printable text here. */
const VERSION = /^[\x21-\x7e]{1,64}$/;

export interface ModuleLabel {
  /** Path of the module in the image, without a leading slash. */
  readonly path: string;
  /** Digest of the module. */
  readonly digest: Digest;
  /** Version of the WIT package `svc:runtime` that the module speaks. */
  readonly protocol: string;
  /** Version of svc with which the image was built. The installed one has to have the same major version, and must not be older. */
  readonly runtime: string;
}

export function labelText({ path, digest, protocol, runtime }: ModuleLabel): string {
  return JSON.stringify({ path, digest, protocol, runtime });
}

/** Parses the label. Throws SVC_IMAGE_INVALID. `where`: the image, for the message. */
export function parseLabel(text: string, where: string): ModuleLabel {
  const name = `the label ${MODULE_LABEL} of ${where}`;
  if (text.length > LABEL_LENGTH_MAX)
    throw invalid(`${name} is longer than ${LABEL_LENGTH_MAX} characters`);
  const { path, digest, protocol, runtime } = parseObject(Buffer.from(text), name);
  if (typeof path !== 'string' || path === '') throw invalid(`${name} has no path`);
  if (!isDigest(digest)) throw invalid(`${name} has no digest`);
  if (typeof protocol !== 'string' || !VERSION.test(protocol))
    throw invalid(`${name} has no protocol`);
  if (typeof runtime !== 'string' || !VERSION.test(runtime))
    throw invalid(`${name} has no runtime`);
  return { path, digest, protocol, runtime };
}
