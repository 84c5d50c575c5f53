// The entry point for programs whose code runs in a process of its own, beside svc's runtime. Its exports are a stable public interface.
export * from '@svc/components/sdk';
export { type ProcessOptions, serveProcess, type ServedProcess } from './serve-process.ts';
