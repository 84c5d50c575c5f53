// LayoutIndex: the file `index.json` of a layout, and which of its images is read.
import type { Chunks, Digest } from './digest.ts';
import { ImageError } from './image-error.ts';
import { TAG_ANNOTATION } from './image-files.ts';
import { type Descriptor, parseIndex } from './image-json.ts';
import { MANIFEST_BYTES_MAX } from './image-limits.ts';

/** Number of tags that a message names. */
const TAGS_SHOWN_MAX = 10;

/** Which image of a layout is meant: by its digest if it is given, else by its tag, else the only one. */
export interface WantedImage {
  readonly tag?: string | undefined;
  readonly digest?: Digest | undefined;
}

/** Reads `index.json`, and returns the wanted image. Throws ImageError. */
export async function rootOfLayout(
  chunks: Chunks,
  { tag, digest }: WantedImage,
  where: string,
): Promise<Descriptor> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MANIFEST_BYTES_MAX)
      throw new ImageError(
        'SVC_IMAGE_TOO_LARGE',
        `The file index.json of ${where} has more than ${MANIFEST_BYTES_MAX} bytes. Build the image again.`,
      );
    parts.push(chunk);
  }
  const images = parseIndex(Buffer.concat(parts), `the file index.json of ${where}`);
  if (digest !== undefined) {
    // Several tags may name it.
    const named = images.find((image) => image.digest === digest);
    if (named === undefined) throw missing(where, `has no image with the digest ${digest}`);
    return named;
  }
  const tagged = images.filter(
    ({ annotations }) => tag === undefined || annotations?.[TAG_ANNOTATION] === tag,
  );
  if (tagged.length === 1) return tagged[0]!;
  if (tag !== undefined && tagged.length === 0)
    throw missing(where, `has no image with the tag ${tag}`);
  throw severalImages(tagged, where);
}

function severalImages(images: readonly Descriptor[], where: string): ImageError {
  const tags = images.flatMap(({ annotations }) => annotations?.[TAG_ANNOTATION] ?? []);
  const named = tags.slice(0, TAGS_SHOWN_MAX).join(', ');
  return new ImageError(
    'SVC_IMAGE_INVALID',
    `${where} has ${images.length} images instead of one. ` +
      (tags.length === 0
        ? 'Build it again.'
        : `Name one of them by its tag, such as ${where}:${tags[0]}: ${named}.`),
  );
}

export function missing(where: string, what: string, cause?: unknown): ImageError {
  return new ImageError(
    'SVC_IMAGE_MISSING',
    `${where} ${what}. Check its name, or build the image with svc image build.`,
    cause === undefined ? {} : { cause },
  );
}
