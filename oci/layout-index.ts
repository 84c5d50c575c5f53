// LayoutIndex: the file `index.json` of a layout, and which of its images is read.
import type { Chunks } from './digest.ts';
import { ImageError } from './image-error.ts';
import { TAG_ANNOTATION } from './image-files.ts';
import { type Descriptor, invalid, parseIndex } from './image-json.ts';
import { MANIFEST_BYTES_MAX } from './image-limits.ts';

/** Reads `index.json`, and returns the image with the tag; without a tag, the only image. Throws ImageError. */
export async function rootOfLayout(
  chunks: Chunks,
  tag: string | undefined,
  where: string,
): Promise<Descriptor> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MANIFEST_BYTES_MAX)
      throw new ImageError(
        'SVC_IMAGE_TOO_LARGE',
        `The file index.json of ${where} has more than ${MANIFEST_BYTES_MAX} bytes. Build the image again with svc image build.`,
      );
    parts.push(chunk);
  }
  const images = parseIndex(Buffer.concat(parts), `the file index.json of ${where}`);
  const tagged = images.filter(
    ({ annotations }) => tag === undefined || annotations?.[TAG_ANNOTATION] === tag,
  );
  if (tagged.length === 1) return tagged[0]!;
  if (tag !== undefined && tagged.length === 0)
    throw missing(where, `has no image with the tag ${tag}`);
  throw invalid(`${where} has ${tagged.length} images instead of one`);
}

export function missing(where: string, what: string, cause?: unknown): ImageError {
  return new ImageError(
    'SVC_IMAGE_MISSING',
    `${where} ${what}. Check its name, or build the image with svc image build.`,
    cause === undefined ? {} : { cause },
  );
}
