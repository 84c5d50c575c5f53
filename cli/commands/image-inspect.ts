// svc image inspect: reads the module out of an image, checks everything that svc checks of an image, and says what it is.
import { printable, printableJson } from '@svc/kit/printable';
import { command, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { openImageFile } from '../image-file.ts';

/** Architectures by the names that Node gives them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

interface InspectedImage {
  readonly image: string;
  readonly platforms: readonly string[];
  readonly module: { readonly path: string; readonly digest: string; readonly bytes: number };
  readonly protocol?: string;
  readonly runtime?: string;
}

export const imageInspect = command(
  {
    name: 'image inspect',
    summary: 'check the image of a module, and say what is in it',
    about: `Reads the module out of an image, checks every digest, size and layer, and shows what the image
says of it. Nothing of the image runs.`,
    words: [{ name: 'FILE|DIR', completes: { kind: 'file', ending: '.tar' } }],
    options: { output: OUTPUT_OPTION },
    notes: `Exits with 1 when svc would not read the image.`,
    examples: ['svc image inspect shopping-cart.tar'],
  },
  async ([name], { output }) => {
    const report = await inspected(name!);
    process.stdout.write(
      output === 'json' ? `${printableJson(JSON.stringify(report, null, 2))}\n` : textOf(report),
    );
    return EXIT_CODE.ok;
  },
);

async function inspected(name: string): Promise<InspectedImage> {
  const { manifestsOf } = await import('@svc/oci/image-source');
  const { readModule } = await import('@svc/oci/module-reader');
  const source = await openImageFile(name);
  const platforms = (await manifestsOf(source)).map(({ platform }) =>
    platform === undefined ? 'linux' : `${platform.os}/${platform.architecture}`,
  );
  const { image, path, digest, bytes, label } = await readModule(
    source,
    ARCHITECTURES[process.arch] ?? process.arch,
  );
  return {
    image,
    platforms,
    module: { path, digest, bytes: bytes.length },
    ...(label === undefined ? {} : { protocol: label.protocol, runtime: label.runtime }),
  };
}

function textOf({ image, platforms, module, protocol, runtime }: InspectedImage): string {
  const rows = [
    ['image', image],
    ['platforms', platforms.join(', ')],
    ['module', `/${module.path}, ${module.bytes} bytes`],
    ['digest', module.digest],
    ['protocol', protocol ?? 'no label'],
    ['runtime', runtime ?? 'no label'],
  ];
  return rows.map(([title, text]) => `${title!.padEnd(10)} ${printable(text!)}\n`).join('');
}
