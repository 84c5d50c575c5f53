// CheckedImage: an image on this machine, checked as svc checks it before anything of it runs: that of a module, or that of a program.
import { ImageError } from '@svc/oci/image-error';
import type { ImageSource } from '@svc/oci/image-source';
import type { ModuleOfImage } from '@svc/oci/module-reader';
import type { ProgramImage } from '@svc/oci/program-image';

export type CheckedImage =
  | { readonly kind: 'module'; readonly module: ModuleOfImage }
  | { readonly kind: 'program'; readonly program: ProgramImage };

/**
 * Checks an image. It is that of a program if it has a command, and neither says that it is that of a module nor can be read as one.
 * `architecture`: by the name that Go gives it, such as `amd64`. Rejects with ImageError.
 */
export async function checkImage(source: ImageSource, architecture: string): Promise<CheckedImage> {
  const { readModule } = await import('@svc/oci/module-reader');
  const { checkProgramImage, isProgramImage } = await import('@svc/oci/program-image');
  if (!(await isProgramImage(source)))
    return { kind: 'module', module: await readModule(source, architecture) };
  const program = await checkProgramImage(source);
  if (program.platforms.some(({ hasModule }) => hasModule))
    try {
      return { kind: 'module', module: await readModule(source, architecture) };
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
    }
  return { kind: 'program', program };
}
