// svc image push: checks the image of a module or a program, and sends it to a registry.
import { printable, printableJson } from '@svc/kit/printable';
import { checkImage } from '../checked-image.ts';
import { command, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { openImageFile } from '../image-file.ts';
import { registryClientFor } from '../platform/registry-access.ts';
import { ProgressLine } from '../progress-line.ts';

/** The architecture whose manifest is checked; the module is the same in all. */
const ARCHITECTURE = 'amd64';

export const imagePush = command(
  {
    name: 'image push',
    summary: 'send an image to a registry',
    about: `Checks the image of a module or a program as svc image inspect does, and sends it to a registry:
what is there already is not sent again, and the tag is set last. The image is an OCI layout, as
svc image build, docker save, skopeo and umoci write it; of several images in a layout, the one
whose tag follows a colon. For the registry of your installation, registry. of its base
domain, your login is used; for others, what docker login has stored.`,
    words: [
      { name: 'FILE|DIR[:TAG]', completes: { kind: 'file', ending: '.tar' } },
      { name: 'REFERENCE' },
    ],
    options: {
      'private-host': {
        type: 'string',
        multiple: true,
        value: 'HOST',
        help: `another host of this machine or a private network to which the registry
may lead, such as one that gives out tokens`,
      },
      output: OUTPUT_OPTION,
    },
    notes: `Exits with 1 when the image is refused, or the registry does not take it.`,
    examples: [
      'svc image push cart.tar registry.svc.localhost:8443/shop/cart:4',
      'svc image push web:7 localhost:5000/shop/web:7',
    ],
  },
  async ([name, text], { output, 'private-host': privateHosts }) => {
    const { parseRegistryReference } = await import('@svc/oci/image-reference');
    const { pushImage } = await import('@svc/oci/registry-push');
    const reference = parseRegistryReference(text!);
    const source = await openImageFile(name!);
    await checkImage(source, ARCHITECTURE);
    await using client = await registryClientFor(reference, { privateHosts });
    const progress = new ProgressLine();
    try {
      const pushed = await pushImage(source, reference, {
        client,
        onStep: ({ bytes }) => progress.show(bytes.done, bytes.all, 'bytes'),
      });
      progress.clear();
      if (output === 'json')
        process.stdout.write(
          `${printableJson(JSON.stringify({ image: pushed.name, sentBytes: pushed.sentBytes }, null, 2))}\n`,
        );
      else process.stdout.write(`${printable(pushed.name)}\n`);
    } finally {
      progress.clear();
    }
    return EXIT_CODE.ok;
  },
);
