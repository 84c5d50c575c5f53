// The text of a component's custom section `svc:descriptor`, read by walking its top-level sections.
import { DESCRIPTOR_SECTION } from '@svc/contract';

export function descriptorText(component: Uint8Array): string {
  const found = customSections(component).filter(([name]) => name === DESCRIPTOR_SECTION);
  if (found.length !== 1) throw new Error(`the component has ${found.length} descriptors`);
  return new TextDecoder('utf-8', { fatal: true }).decode(found[0]![1]);
}

function customSections(component: Uint8Array): [name: string, content: Uint8Array][] {
  let at = 8;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = component[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  };
  const sections: [string, Uint8Array][] = [];
  while (at < component.length) {
    const id = component[at++];
    const size = number();
    const end = at + size;
    if (id === 0) {
      const length = number();
      const name = new TextDecoder().decode(component.subarray(at, at + length));
      sections.push([name, component.subarray(at + length, end)]);
    }
    at = end;
  }
  return sections;
}
