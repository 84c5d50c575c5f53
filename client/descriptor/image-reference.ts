// ImageReference: the grammar of the name of an image: a reference as registries take it (`registry.example.com/shop/cart:4`,
// with a digest `cart@sha256:…`), or a layout below a folder of the operator's (`oci:images/cart:4`).
import { quoted } from './problem.ts';

/** Maximum length of the name of an image, in characters. */
export const IMAGE_LENGTH_MAX = 1000;
/** Maximum length of a reference without tag and digest. */
const REPOSITORY_LENGTH_MAX = 255;
const LAYOUT_PREFIX = 'oci:';
// The parts of a name, as regular expressions.
const TAG_TEXT = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const DIGEST_TEXT = '(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})';
const LABEL_TEXT = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const HOST_TEXT = `(?:${LABEL_TEXT}(?:\\.${LABEL_TEXT})*|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?`;
const COMPONENT_TEXT = '[a-z0-9]+(?:(?:\\.|__|_|-+)[a-z0-9]+)*';
/** A component that cannot be taken for a registry. */
const FIRST_COMPONENT_TEXT = '[a-z0-9]+(?:(?:__|_|-+)[a-z0-9]+)*';
const SEGMENT_TEXT = '[A-Za-z0-9_][A-Za-z0-9_.-]*';
const REFERENCE_TEXT = `(?:(?:${HOST_TEXT}|${FIRST_COMPONENT_TEXT})(?:/${COMPONENT_TEXT})+|${COMPONENT_TEXT})`;
const LAYOUT_TEXT = `${LAYOUT_PREFIX}${SEGMENT_TEXT}(?:/${SEGMENT_TEXT})+`;
const ENDING_TEXT = `(?::${TAG_TEXT})?(?:@${DIGEST_TEXT})?`;

/** The grammar of the name of an image, as a JSON Schema writes it, without its lengths. */
export const IMAGE_PATTERN = `^(?:${LAYOUT_TEXT}|${REFERENCE_TEXT})${ENDING_TEXT}$`;
/** The same for the length of a reference without tag and digest. */
export const IMAGE_LENGTH_PATTERN = `^(?:${LAYOUT_PREFIX}.*/.*|[^@]{1,${REPOSITORY_LENGTH_MAX}}${ENDING_TEXT})$`;

const TAG = whole(TAG_TEXT);
const DIGEST = whole(DIGEST_TEXT);
const HOST = whole(HOST_TEXT);
const COMPONENT = whole(COMPONENT_TEXT);
const LAYOUT_SEGMENT = whole(SEGMENT_TEXT);

function whole(text: string): RegExp {
  return new RegExp(`^(?:${text})$`);
}

/** Returns why the text is no name of an image, with what to write instead; undefined for a valid one. */
export function imageProblem(text: string): string | undefined {
  if (text === '') return 'is empty: write the name of an image such as shop/cart:4';
  if (text.length > IMAGE_LENGTH_MAX) return `is longer than ${IMAGE_LENGTH_MAX} characters`;
  if (!/^[\x21-\x7e]+$/.test(text))
    return 'has a blank or a character that no name of an image has';
  if (text.includes('://')) return 'is a URL: write the name of an image such as shop/cart:4';
  const at = text.indexOf('@');
  if (at !== -1 && !DIGEST.test(text.slice(at + 1)))
    return 'has a digest that is none: write @sha256: and 64 hexadecimal digits';
  const named = at === -1 ? text : text.slice(0, at);
  const isLayout = named.startsWith(LAYOUT_PREFIX) && named.includes('/');
  return isLayout ? layoutProblem(named.slice(LAYOUT_PREFIX.length)) : referenceProblem(named);
}

function referenceProblem(named: string): string | undefined {
  const { name, tag } = splitTag(named);
  if (tag !== undefined && !TAG.test(tag)) return tagReason(tag);
  if (name.length > REPOSITORY_LENGTH_MAX)
    return `has a name of more than ${REPOSITORY_LENGTH_MAX} characters before its tag`;
  const [first = '', ...rest] = name.split('/');
  const hasHost = rest.length > 0 && (/[.:A-Z]/.test(first) || first === 'localhost');
  if (hasHost && !HOST.test(first)) return `has the registry ${quoted(first)}, which is no host`;
  const wrong = (hasHost ? rest : [first, ...rest]).find((part) => !COMPONENT.test(part));
  return wrong === undefined
    ? undefined
    : `has the part ${quoted(wrong)}: use lower-case letters and digits, with single separators . _ __ - between`;
}

/** A layout is below a folder, so nothing of its path leads out of it. */
function layoutProblem(path: string): string | undefined {
  const { name, tag } = splitTag(path);
  if (tag !== undefined && !TAG.test(tag)) return tagReason(tag);
  const wrong = name.split('/').find((segment) => !LAYOUT_SEGMENT.test(segment));
  return wrong === undefined
    ? undefined
    : `has the segment ${quoted(wrong)}: a path after oci: is made of letters, digits and . _ -, and begins with no slash`;
}

function splitTag(named: string): { readonly name: string; readonly tag: string | undefined } {
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  return colon === -1
    ? { name: named, tag: undefined }
    : { name: named.slice(0, colon), tag: named.slice(colon + 1) };
}

function tagReason(tag: string): string {
  return `has the tag ${quoted(tag)}: use at most 128 letters, digits and . _ -, and no . or - first`;
}
