// svc image list: the images of a service in the registry of the installation.
import { printable, printableJson } from '@svc/kit/printable';
import { command, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { Platform } from '../platform/platform.ts';
import { printTable } from '../platform/printed-answer.ts';
import { PROJECT_OPTION, projectOf, SERVICE_WORD } from '../platform/project-option.ts';
import { openRegistry, storedImages } from '../platform/stored-images.ts';
import { printData } from '../terminal.ts';

export const imageList = command(
  {
    name: 'image list',
    summary: 'list the images of a service in the registry of an installation',
    about: `Lists the tagged images that the registry of your installation has of a service, with their tags
and the services of the project whose descriptors name them. The service need not exist any more.`,
    words: [SERVICE_WORD],
    options: { project: PROJECT_OPTION, output: OUTPUT_OPTION },
    notes: 'svc image delete makes room for others.',
    examples: ['svc image list cart', 'svc image list cart --project shop -o json'],
  },
  async ([name], { project, output }) => {
    const platform = Platform.open();
    const projectId = projectOf('image list', { project }, platform.target);
    const services = await platform.call('listServices', { projectId });
    await using registry = await openRegistry(platform);
    const { parseRegistryReference } = await import('@svc/oci/image-reference');
    const repository = parseRegistryReference(`${registry.host}/${projectId}/${name}`);
    const images = await storedImages(repository, registry.client, services);
    if (output === 'json') {
      await printData(`${printableJson(JSON.stringify(images))}\n`);
      return EXIT_CODE.ok;
    }
    await printTable(
      ['TAGS', 'SERVICES', 'DIGEST'],
      images.map(({ tags, digest, services: users }) => [tags.join(','), users.join(','), digest]),
    );
    if (images.length === 0)
      process.stderr.write(`${printable(`${projectId}/${name} has no images with a tag.`)}\n`);
    return EXIT_CODE.ok;
  },
);
