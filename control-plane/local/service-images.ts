// ServiceImages: the images of services, by their hosting: a module is read out of its image, a program has all files of its own.
import { ImageRoots } from './image-roots.ts';
import type { ImageResult, ImageSource, ImageWish } from './local-machine.ts';
import type { ModuleImages } from './module-images.ts';
import type { ResolvedImage } from './service-record.ts';

export class ServiceImages implements ImageSource {
  readonly #modules: ModuleImages;
  readonly #roots: ImageRoots;

  constructor(modules: ModuleImages, roots: ImageRoots) {
    this.#modules = modules;
    this.#roots = roots;
  }

  isKept(image: ResolvedImage): boolean {
    return image.imageFolder === undefined
      ? this.#modules.isKept(image)
      : this.#roots.isKept(image);
  }

  async resolve({ former, ...wish }: ImageWish, signal: AbortSignal): Promise<ImageResult> {
    // A service may have had another hosting before.
    const isSame = (former?.moduleFile !== undefined) === (wish.descriptor.hosting === 'wasm');
    const all = { ...wish, former: isSame ? former : undefined };
    return await (wish.descriptor.hosting === 'wasm'
      ? this.#modules.resolve(all, signal)
      : this.#roots.resolve(all, signal));
  }
}
