// BuiltImageSource: an image that was just built, as a source, so that it can be pushed without a file.
import { ImageError } from './image-error.ts';
import type { ImageSource } from './image-source.ts';
import type { BuiltImage } from './module-image.ts';

/** `name`: the image as messages name it. */
export function builtImageSource({ root, blobs }: BuiltImage, name: string): ImageSource {
  return {
    name,
    root,
    async *open({ digest }) {
      const bytes = blobs.get(digest);
      if (bytes === undefined)
        throw new ImageError(
          'SVC_IMAGE_MISSING',
          `The image ${name} has no blob ${digest}. Build it again with svc image build.`,
        );
      yield bytes;
    },
  };
}
