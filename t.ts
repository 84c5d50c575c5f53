import { ModuleDescriptor, parseModuleDescriptor } from '@svc/contract';
import { Compile } from 'typebox/compile';
import { Check } from 'typebox/value';
import { inspectModule } from './host/embed.ts';
import fs from 'node:fs';
const d = inspectModule(fs.readFileSync('build/shopping-cart.wasm')).descriptor!;
const text = JSON.stringify(d);
for (let i=0;i<3;i++){ let t=performance.now(); Check(ModuleDescriptor, d); console.log('Check', performance.now()-t); }
let t=performance.now(); const c = Compile(ModuleDescriptor); console.log('Compile', performance.now()-t); 
for (let i=0;i<3;i++){ let t=performance.now(); c.Check(d); console.log('compiled', performance.now()-t); }
console.log(Object.getOwnPropertyNames(Object.getPrototypeOf(c)), c.Code().slice(0,1500));
