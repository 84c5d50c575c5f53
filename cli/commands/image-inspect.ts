// svc image inspect: checks everything that svc checks of the image of a module or a program, and says what is in it.
import { printable, printableJson } from '@svc/kit/printable';
import type { ImageSource } from '@svc/oci/image-source';
import type { ModuleOfImage } from '@svc/oci/module-reader';
import type { ProgramImage } from '@svc/oci/program-image';
import { checkImage } from '../checked-image.ts';
import { command, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { openImageFile } from '../image-file.ts';
import { shellWord } from '../shell-word.ts';

/** Architectures by the names that Node gives them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

interface InspectedImage {
  readonly image: string;
  readonly platforms: readonly string[];
  readonly module?: { readonly path: string; readonly digest: string; readonly bytes: number };
  readonly protocol?: string;
  readonly runtime?: string;
  readonly program?: InspectedProgram;
}

interface InspectedProgram {
  readonly command: readonly string[];
  /** As the image has it; empty for root. */
  readonly user: string;
  readonly workingDir: string;
  readonly bytes: number;
}

export const imageInspect = command(
  {
    name: 'image inspect',
    summary: 'check an image, and say what is in it',
    about: `Checks every digest, size and layer of an image, and shows what it is: the image of a module, or
of a program, which has a command. Nothing of the image runs. Of several images in a layout, name
one by its tag after a colon.`,
    words: [{ name: 'FILE|DIR[:TAG]', completes: { kind: 'file', ending: '.tar' } }],
    options: { output: OUTPUT_OPTION },
    notes: `Exits with 1 when svc would not read the image.`,
    examples: ['svc image inspect shopping-cart.tar', 'svc image inspect web:7'],
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
  const source = await openImageFile(name);
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const checked = await checkImage(source, architecture);
  return checked.kind === 'module'
    ? await inspectedModule(source, checked.module)
    : inspectedProgram(checked.program, architecture);
}

async function inspectedModule(
  source: ImageSource,
  { image, path, digest, bytes, label }: ModuleOfImage,
): Promise<InspectedImage> {
  const { manifestsOf } = await import('@svc/oci/image-source');
  const platforms = (await manifestsOf(source)).map(({ platform }) =>
    platform === undefined ? 'linux' : `${platform.os}/${platform.architecture}`,
  );
  return {
    image,
    platforms,
    module: { path, digest, bytes: bytes.length },
    ...(label === undefined ? {} : { protocol: label.protocol, runtime: label.runtime }),
  };
}

function inspectedProgram(
  { image, platforms }: ProgramImage,
  architecture: string,
): InspectedImage {
  const own = platforms.find(({ platform }) => platform === `linux/${architecture}`);
  const { config, bytes } = own ?? platforms[0]!;
  const { entrypoint, cmd, workingDir } = config.command;
  return {
    image,
    platforms: platforms.map(({ platform }) => platform),
    program: { command: [...entrypoint, ...cmd], user: config.user, workingDir, bytes },
  };
}

function textOf({ image, platforms, ...content }: InspectedImage): string {
  const rows = [
    ['image', image],
    ['platforms', platforms.join(', ')],
    ...(content.program === undefined ? moduleRows(content) : programRows(content.program)),
  ];
  return rows.map(([title, text]) => `${title!.padEnd(10)} ${printable(text!)}\n`).join('');
}

function moduleRows({ module, protocol, runtime }: Omit<InspectedImage, 'image' | 'platforms'>) {
  return [
    ['module', `/${module!.path}, ${module!.bytes} bytes`],
    ['digest', module!.digest],
    ['protocol', protocol ?? 'no label'],
    ['runtime', runtime ?? 'no label'],
  ];
}

function programRows({ command: words, user, workingDir, bytes }: InspectedProgram) {
  return [
    ['command', words.map(shellWord).join(' ')],
    ['user', user === '' ? 'root' : user],
    ['folder', workingDir],
    ['files', `${bytes} bytes`],
  ];
}
