// The names of images in their parts.
import { expect, test } from 'vitest';
import {
  parseImageReference,
  parseRegistryReference,
  registryReferenceText,
} from '../../oci/image-reference.ts';

const DIGEST = `sha256:${'a'.repeat(64)}` as const;

test.each([
  ['cart', 'docker.io', 'library/cart', 'latest', undefined],
  ['shop/cart:4', 'docker.io', 'shop/cart', '4', undefined],
  ['localhost/cart', 'localhost', 'cart', 'latest', undefined],
  ['Registry.Example:5000/shop/cart', 'registry.example:5000', 'shop/cart', 'latest', undefined],
  ['[::1]:5000/cart:4', '[::1]:5000', 'cart', '4', undefined],
  [`a.b/cart:4@${DIGEST}`, 'a.b', 'cart', '4', DIGEST],
  [`a.b/cart@${DIGEST}`, 'a.b', 'cart', undefined, DIGEST],
])('%s is in a registry', (text, host, repository, tag, digest) => {
  const reference = parseImageReference(text);
  expect(reference).toEqual({ kind: 'registry', host, repository, tag, digest });
  const { kind: _kind, ...named } = parseRegistryReference(text);
  expect(parseImageReference(registryReferenceText(named))).toEqual(reference);
});

test.each([
  ['oci:images/cart', 'images', 'cart', undefined, undefined],
  ['oci:images/a/b:4', 'images', 'a/b', '4', undefined],
  [`oci:images/cart@${DIGEST}`, 'images', 'cart', undefined, DIGEST],
])('%s is a layout', (text, folder, path, tag, digest) => {
  expect(parseImageReference(text)).toEqual({ kind: 'layout', folder, path, tag, digest });
  expect(() => parseRegistryReference(text)).toThrow(/is a layout/);
});

test.each(['', 'oci:images/../etc', 'a b', 'https://a.b/c', 'a.b/C', 'a.b/c@sha256:1'])(
  '%j is refused',
  (text) => {
    expect(() => parseImageReference(text)).toThrow(
      expect.objectContaining({ code: 'SVC_IMAGE_REFERENCE_INVALID' }) as Error,
    );
  },
);
