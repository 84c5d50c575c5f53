// CertificateFiles: the three files of a certificate folder, read as one set. The files are links into a folder that is replaced as
// a whole when Kubernetes renews them, so files that change while they are read are read again.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertificateTexts } from './certificates.ts';

const NAMES = ['tls.crt', 'tls.key', 'ca.crt'] as const;
const FILE_BYTES_MAX = 1024 * 1024;
const READS_MAX = 5;

/** Files that cannot be read: a sentence for the operator. */
export interface MissingFiles {
  readonly missing: string;
}

/** Reads the files; undefined if they have changed each time that they were read. */
export async function readCertificateFiles(
  folder: string,
): Promise<CertificateTexts | MissingFiles | undefined> {
  try {
    for (let read = 0; read < READS_MAX; read++) {
      const before = await stamps(folder);
      const [certificate, key, authorities] = await Promise.all(
        NAMES.map((name) => readFile(join(folder, name), 'utf8')),
      );
      if ((await stamps(folder)) === before)
        return { certificate: certificate!, key: key!, authorities: authorities! };
    }
    return undefined;
  } catch (error) {
    if (error instanceof UnfitFile) return { missing: error.message };
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { missing: `${path ?? folder} cannot be read (${code}).` };
  }
}

class UnfitFile extends Error {}

/** Identity, size and time of each file: equal texts mean that no file was replaced or written. */
async function stamps(folder: string): Promise<string> {
  const found = await Promise.all(
    NAMES.map(async (name) => {
      const file = join(folder, name);
      const stats = await stat(file, { bigint: true });
      const { dev, ino, size, mtimeNs } = stats;
      if (!stats.isFile()) throw new UnfitFile(`${file} is not a file.`);
      if (size > FILE_BYTES_MAX)
        throw new UnfitFile(`${file} has more than ${FILE_BYTES_MAX} bytes.`);
      return `${dev} ${ino} ${size} ${mtimeNs}`;
    }),
  );
  return found.join('\n');
}
