// ImageProgram: what an unpacked image says about its program (config.json beside its files).
import { join } from 'node:path';
import { CONFIG_FILE, ROOT_FOLDER, type UnpackedImage } from '@svc/oci/image-root';
import { readJsonFile } from '../json-file.ts';

const PATH_DEFAULT = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface ImageProgram {
  /** Folder with the files of the image. */
  readonly root: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly user: { readonly uid: number; readonly gid: number };
}

/** Reads the program of the image in a folder. Throws if the folder is no longer there. */
export function imageProgram(folder: string): ImageProgram {
  const unpacked = readJsonFile(join(folder, CONFIG_FILE)) as UnpackedImage | undefined;
  if (unpacked === undefined) throw new Error('the files of its image are gone: apply it again');
  const { entrypoint, cmd, env, workingDir, user } = unpacked.config;
  return {
    root: join(folder, ROOT_FOLDER),
    command: [...entrypoint, ...cmd],
    env: { PATH: PATH_DEFAULT, ...env },
    workingDir,
    user,
  };
}
