// P27: which service a path at the calling address names.
import { describe, expect, test } from 'vitest';
import { callTarget } from '../../forward/call-target.ts';

describe('P27: a call', () => {
  test.each([
    ['/svc', 'svc', undefined, '/'],
    ['/svc/', 'svc', undefined, '/'],
    ['/svc?x', 'svc', undefined, '/?x'],
    ['/svc/?x', 'svc', undefined, '/?x'],
    ['/svc/x/y?z=/a', 'svc', undefined, '/x/y?z=/a'],
    ['/a.b/x', 'a', 'b', '/x'],
    ['/a.b', 'a', 'b', '/'],
    ['/shop/x', 'shop', undefined, '/x'],
    ['/svc//x', 'svc', undefined, '//x'],
    ['/svc/%2F..%2F', 'svc', undefined, '/%2F..%2F'],
    ['/svc/../other/x', 'svc', undefined, '/../other/x'],
    ['/svc/%zz%00/café', 'svc', undefined, '/%zz%00/café'],
  ])('%s names a service, and the rest of its path passes raw', (path, service, project, rest) => {
    expect(callTarget(path)).toEqual({ kind: 'service', called: { service, project }, path: rest });
  });

  test.each(['/', '//svc/x', '/?x', '*', '', '/?/svc'])('%j names no service', (path) => {
    expect(callTarget(path)).toEqual({ kind: 'no-service' });
  });

  test.each([
    ['/a.b.c/x', 'a.b.c'],
    ['/%73vc/x', '%73vc'],
    ['/Svc/x', 'Svc'],
    ['/svc;v=1/x', 'svc;v=1'],
    ['/svc:9000/x', 'svc:9000'],
    ['/../svc', '..'],
    ['/.svc', '.svc'],
    ['/svc.', 'svc.'],
    ['/s_c', 's_c'],
    [String.raw`/svc\x`, String.raw`svc\x`],
    ['/evil@svc/x', 'evil@svc'],
    ['/1abc/x', '1abc'],
    ['/cart.2fin/x', 'cart.2fin'],
    [`/cart.${'a'.repeat(58)}/x`, `cart.${'a'.repeat(58)}`],
    [`/${'a'.repeat(200)}`, 'a'.repeat(200)],
  ])('%s has a first segment that is no service', (path, segment) => {
    expect(callTarget(path)).toEqual({ kind: 'not-a-service', segment });
  });
});
