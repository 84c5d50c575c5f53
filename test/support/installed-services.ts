// InstalledServices: the services that an installation of a test can have.
import { writeLayoutFolder } from '@svc/oci/image-files';
import { moduleImage } from '@svc/oci/module-image';
import { compileFixture } from './compile-fixture.ts';
import { writeServerImage } from './hosted-program.ts';

export interface InstalledService {
  readonly name: string;
  /** Fields of its descriptor besides the name and the image. */
  readonly descriptor: Readonly<Record<string, unknown>>;
  /** Writes its image, with the tag 1, as an OCI layout into the folder. */
  readonly writeImage: (folder: string) => Promise<void>;
  /** Path of its requests, GET and POST. */
  readonly path: string;
  /** Body of a POST. */
  readonly body: string;
}

/** A module with a data folder. Each POST adds 1 to its value. */
export const installedCounter: InstalledService = {
  name: 'counter',
  descriptor: { hosting: 'wasm', protocol: '0.2.0' },
  writeImage: async (folder) => {
    const module = await compileFixture('counter');
    const image = moduleImage({ module, protocol: '0.2.0', runtime: '0.1.0' });
    await writeLayoutFolder(image, '1', folder);
  },
  path: '/counters/one',
  body: '{"amount":1}',
};

/** Two instances of a web server, each in a sandbox behind its proxy. Linux only. */
export const installedWebServer: InstalledService = {
  name: 'web',
  descriptor: { hosting: 'process', protocol: 'http/1.1', instances: 2 },
  writeImage: async (folder) => writeServerImage(folder),
  path: '/',
  body: '{}',
};
