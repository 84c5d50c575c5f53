// svc image delete: deletes an image from the registry of the installation, so that it no longer counts for the project's quota.
import { printable } from '@svc/kit/printable';
import type { RegistryReference } from '@svc/oci/image-reference';
import { command, EXIT_CODE } from '../command.ts';
import { confirmed } from '../platform/confirmation.ts';
import { Platform } from '../platform/platform.ts';
import { PROJECT_OPTION, projectOf } from '../platform/project-option.ts';
import { openRegistry, servicesNaming, storedImages } from '../platform/stored-images.ts';
import { UsageError } from '../usage-error.ts';

export const imageDelete = command(
  {
    name: 'image delete',
    summary: 'delete an image from the registry of an installation',
    about: `Deletes an image of a project from the registry of your installation, with all its tags. Its bytes
count for the quota of the project until the registry's next sweep, and a day after their push at
least. What runs of the image continues, and can be restarted.`,
    words: [{ name: 'NAME:TAG|NAME@DIGEST' }],
    options: {
      project: PROJECT_OPTION,
      yes: { type: 'boolean', help: 'delete without asking; needed where nobody can be asked' },
    },
    notes:
      'It says so when a service of the project names the image, which cannot be applied again then.',
    examples: ['svc image delete cart:4', 'svc image delete cart:4 --project shop --yes'],
  },
  async ([word], { project, yes }) => {
    const platform = Platform.open();
    const projectId = projectOf('image delete', { project }, platform.target);
    const services = await platform.call('listServices', { projectId });
    await using registry = await openRegistry(platform);
    const { client, host } = registry;
    const reference = await referenceOf(`${host}/${projectId}/${word}`, word!);
    const { openRegistryImage } = await import('@svc/oci/registry-image');
    const { digest } = (await openRegistryImage(reference, client)).root;
    const images = await storedImages(reference, client, services);
    const tags = images.find((image) => image.digest === digest)?.tags ?? [];
    const users = await servicesNaming(reference, { digest, tags }, services);
    const what = `${reference.repository}@${digest}${tags.length === 0 ? '' : ` (${tags.join(', ')})`}`;
    const warning =
      users.length === 0
        ? ''
        : `${users.join(', ')} of this project names it: what runs goes on, and applying that descriptor again will fail.`;
    if (!yes) await confirmed('image delete', `${warning} Delete the image ${what}?`.trim());
    else if (warning !== '') say(warning);
    const { deleteImage } = await import('@svc/oci/registry-repository');
    await deleteImage(reference, digest, client);
    say(`Deleted the image ${what}.`);
    return EXIT_CODE.ok;
  },
);

/** Parses the name of one image. Throws UsageError if it names a whole repository. */
async function referenceOf(name: string, word: string): Promise<RegistryReference> {
  if (!/[:@]/.test(word))
    throw new UsageError(
      `image delete takes one image, such as ${word}:4, and found the name of all. svc image list ${word} lists them.`,
    );
  const { parseRegistryReference } = await import('@svc/oci/image-reference');
  return parseRegistryReference(name);
}

function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}
