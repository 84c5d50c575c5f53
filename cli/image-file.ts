// ImageFile: an image on this machine that a command names: an OCI layout as an archive or in a folder.
import { stat } from 'node:fs/promises';
import type { ImageSource } from '@svc/oci/image-source';

/** Opens an image with one image in its layout. Throws ImageError. */
export async function openImageFile(path: string): Promise<ImageSource> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory() === true) {
    const { openLayoutFolder } = await import('@svc/oci/layout-folder');
    return openLayoutFolder(path);
  }
  const { openLayoutArchive } = await import('@svc/oci/layout-archive');
  return openLayoutArchive(path);
}
