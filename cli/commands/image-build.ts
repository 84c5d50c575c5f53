// svc image build: makes the image of a module without Docker.
import { printable, printableJson } from '@svc/kit/printable';
import { command, EXIT_CODE } from '../command.ts';
import { moduleToPack } from '../module-to-pack.ts';

/** The tag of the image in its layout. Pushing names another one. */
const TAG = 'latest';
const ARCHIVE_ENDING = '.tar';

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
    const { name, packed } = await moduleToPack(source!);
    const output = named ?? `${name}${ARCHIVE_ENDING}`;
    const { moduleImage } = await import('@svc/oci/module-image');
    const { writeLayoutArchive, writeLayoutFolder } = await import('@svc/oci/image-files');
    const image = moduleImage(packed);
    const write = output.endsWith(ARCHIVE_ENDING) ? writeLayoutArchive : writeLayoutFolder;
    await write(image, TAG, output);
    const { digest } = image.root;
    if (json)
      process.stdout.write(`${printableJson(JSON.stringify({ file: output, image: digest }))}\n`);
    else process.stderr.write(`${printable(output)}: ${digest}\n`);
    return EXIT_CODE.ok;
  },
);
