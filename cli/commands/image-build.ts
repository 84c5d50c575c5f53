// svc image build: makes the image of a module without Docker. The module is judged as before it runs, so that no image is made
// of a module that the runtime would refuse.
import { hash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { printable, printableJson } from '@svc/kit/printable';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { findProject } from '../dev/dev-project.ts';
import { version } from '../version.ts';
import { compile } from './build.ts';

/** The tag of the image in its layout. Pushing names another one. */
const TAG = 'latest';
const ARCHIVE_ENDING = '.tar';

interface AdmittedFile {
  readonly module: Uint8Array;
  /** Version of the WIT package `svc:runtime` that the module speaks. */
  readonly protocol: string;
}

export const imageBuild = command(
  {
    name: 'image build',
    summary: 'make the image of a module, without Docker',
    about: `Makes the image of a module, for linux/amd64 and linux/arm64: the module, and a static program
that copies it to where the runtime loads it. The same module gives the same bytes. DIR is a
project, which is compiled first.`,
    words: [{ name: 'MODULE.wasm|DIR', completes: { kind: 'file', ending: '.wasm' } }],
    options: {
      output: {
        type: 'string',
        short: 'o',
        value: 'FILE.tar|DIR',
        help: `the image, as an OCI layout: an archive if the name ends in .tar,
else a folder`,
        otherwise: 'MODULE.tar or PROJECT.tar here',
        completes: { kind: 'file', ending: '.tar' },
      },
      json: { type: 'boolean', help: 'print what was made as JSON on stdout' },
    },
    notes: `Exits with 1 when the project does not compile, or the module is refused.`,
    examples: ['svc image build shopping-cart.wasm', 'svc image build . -o shopping-cart.tar'],
  },
  async ([source], { output: named, json }) => {
    const { name, admitted } = await moduleToPack(source!);
    const output = named ?? `${name}${ARCHIVE_ENDING}`;
    const { moduleImage } = await import('@svc/oci/module-image');
    const { writeLayoutArchive, writeLayoutFolder } = await import('@svc/oci/image-files');
    const image = moduleImage({ ...admitted, runtime: version });
    const write = output.endsWith(ARCHIVE_ENDING) ? writeLayoutArchive : writeLayoutFolder;
    await write(image, TAG, output);
    const { digest } = image.root;
    if (json)
      process.stdout.write(`${printableJson(JSON.stringify({ file: output, image: digest }))}\n`);
    else process.stderr.write(`${printable(output)}: ${digest}\n`);
    return EXIT_CODE.ok;
  },
);

/** Reads and judges the module of a file or of a project, and gives it a name. Throws CommandFailure. */
async function moduleToPack(
  source: string,
): Promise<{ readonly name: string; readonly admitted: AdmittedFile }> {
  const isFolder = await stat(source).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) return { name: basename(source, '.wasm'), admitted: await admittedFile(source) };
  const project = findProject(source);
  const { component } = await compile(project.entryFile, false, false);
  const folder = await mkdtemp(join(tmpdir(), 'svc-image-'));
  try {
    const file = join(folder, 'module.wasm');
    await writeFile(file, component);
    return { name: project.name, admitted: await admittedFile(file) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function admittedFile(file: string): Promise<AdmittedFile> {
  const { inspectModuleFile } = await import('@svc/host/tools');
  const { refusal, descriptor, fingerprint } = await inspectModuleFile(file, [], {});
  if (refusal !== undefined) throw new CommandFailure(refusal.code, refusal.message);
  const module = await readFile(file);
  if (hash('sha256', module) !== fingerprint)
    throw new CommandFailure(
      'SVC_MODULE_UNREADABLE',
      `${file} was changed while the image was made. Run the command again when the file is complete.`,
    );
  return { module, protocol: descriptor!.protocol };
}
