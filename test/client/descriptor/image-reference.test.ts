// The names of images: which are valid, and why others are not.
import { describe, expect, test } from 'vitest';
import { imageProblem } from '../../../client/index.ts';

const SHA256 = `sha256:${'0a'.repeat(32)}`;

describe('the name of an image', () => {
  test.each([
    'cart',
    'cart:4',
    'shop/cart',
    'shop/cart__api:v1.2.3-rc.1_x',
    'registry.example.com/shop/cart:4',
    'REGISTRY.example.com:5000/cart',
    'localhost/cart',
    'localhost:5000/a/b/c:latest',
    '[::1]:5000/cart',
    `cart@${SHA256}`,
    `registry.example.com/shop/cart:4@${SHA256}`,
    `cart@sha512:${'f'.repeat(128)}`,
    'oci:images/cart:4',
    'oci:Images/cart_1/v2',
    'oci:4',
    'a--b',
  ])('can be %s', (image) => {
    expect(imageProblem(image)).toBeUndefined();
  });

  test.each([
    ['', 'is empty'],
    ['shop cart', 'has a blank'],
    ['café', 'has a blank or a character'],
    ['https://registry.example.com/cart', 'is a URL'],
    ['Cart:4', 'has the part "Cart"'],
    ['shop/Cart', 'has the part "Cart"'],
    ['cart:', 'has the tag ""'],
    ['cart:a b', 'has a blank'],
    ['cart:4:5', 'has the tag "4:5"'],
    ['cart:-x', 'has the tag "-x"'],
    [`cart:${'x'.repeat(129)}`, 'has the tag'],
    ['cart@', 'has a digest'],
    ['cart@sha256:12', 'has a digest'],
    [`cart@${SHA256}@${SHA256}`, 'has a digest'],
    [`@${SHA256}`, 'has the part ""'],
    ['/cart', 'has the part ""'],
    ['shop//cart', 'has the part ""'],
    ['shop/', 'has the part ""'],
    ['../cart', 'has the registry ".."'],
    ['shop/../cart', 'has the part ".."'],
    ['-cart', 'has the part "-cart"'],
    ['a___b', 'has the part "a___b"'],
    ['registry.example.com:port/cart', 'has the registry'],
    ['oci:/etc/cart', 'has the segment ""'],
    ['oci:images/../../etc', 'has the segment ".."'],
    ['oci:images/.hidden', 'has the segment ".hidden"'],
    ['oci:images/cart:', 'has the tag ""'],
    [`${'a/'.repeat(128)}a`, 'has a name of more than 255'],
    ['a'.repeat(1001), 'is longer than 1000'],
  ])('cannot be %s', (image, reason) => {
    expect(imageProblem(image)).toContain(reason);
  });
});
