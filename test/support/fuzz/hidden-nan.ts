// HiddenNan: code that puts one NaN in the place of every other. Which NaN arithmetic gives is open in
// WebAssembly, so generated code looks at the bits of a float only behind this.
import { u32 } from './wasm-bytes.ts';

const F32_NAN = [0, 0, 0xc0, 0x7f];
const F64_NAN = [0, 0, 0, 0, 0, 0, 0xf8, 0x7f];

/** Of the float on the stack. `local`: one of its type that nothing else uses. */
export function hideNan(type: 'f32' | 'f64', local: number): number[] {
  const scratch = u32(local);
  const nan = type === 'f32' ? [0x43, ...F32_NAN] : [0x44, ...F64_NAN];
  const equal = type === 'f32' ? 0x5b : 0x61;
  return [0x22, ...scratch, ...nan, 0x20, ...scratch, 0x20, ...scratch, equal, 0x1b];
}

/** Of each lane of the vector on the stack. */
export function hideNanLanes(lane: 'f32' | 'f64', local: number): number[] {
  const scratch = u32(local);
  const nan = lane === 'f32' ? [F32_NAN, F32_NAN, F32_NAN, F32_NAN] : [F64_NAN, F64_NAN];
  const equal = lane === 'f32' ? 65 : 71;
  const both = [0x20, ...scratch, 0x20, ...scratch];
  return [0x22, ...scratch, 0xfd, 12, ...nan.flat(), ...both, 0xfd, equal, 0xfd, 82];
}
