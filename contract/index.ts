// The published package's one door.
export { REFUSAL_CODES, type RefusalCode } from './error-code.ts';
export {
  DESCRIPTOR_BYTES_MAX,
  DESCRIPTOR_SECTION,
  ModuleDescriptor,
  PROTOCOL_VERSION,
  parseModuleDescriptor,
  type AccessRule,
  type DescriptorResult,
  type EndpointDescriptor,
  type EntityDescriptor,
  type RouteDescriptor,
} from './module-descriptor.ts';
export { TypeSchema } from './type-schema.ts';
