// Declares the decorators for type checking in editors. The compiler of svc reads decorators itself and never sees
// this file. A module's assembly/tsconfig.json extends the tsconfig.json beside this file.

declare function data(name: string): (type: object) => void;
declare function data(type: object): void;
declare function variant(name: string): (type: object) => void;
declare function configuration(type: object): void;
declare function entity(component: string): (type: object) => void;
declare function endpoint(prefix: string): (type: object) => void;
declare function view(id: string, version?: string): (type: object) => void;
declare function index(...fields: string[]): (type: object) => void;
declare function find(view: string, query: string, where: string): (type: object) => void;
declare function from(component: string): (type: object, name: string, fold: object) => void;
declare function keys(component: string): (type: object, name: string, keys: object) => void;
declare function consumer(id: string, start: import("./consumer").Start): (type: object) => void;
declare function on(component: string): (type: object, name: string, handler: object) => void;
declare function access(rule: string, ...services: string[]): (target: object, name?: string, handler?: object) => void;
declare function bearer(...rules: BearerRule[]): (target: object, name?: string, handler?: object) => void;
interface BearerRule { readonly rule: string }
interface Grants { any(...names: string[]): BearerRule; all(...names: string[]): BearerRule }
declare const Role: Grants;
declare const Scope: Grants;
declare const Token: { readonly forwarded: BearerRule };
declare function limit(rate: string, by: LimitKey): (target: object, name?: string, handler?: object) => void;
interface LimitKey { readonly by: string }
declare const By: { readonly subject: LimitKey; readonly address: LimitKey; readonly route: LimitKey };
declare function cors(narrower: CorsOptions): (target: object, name?: string, handler?: object) => void;
declare function cors(target: object, name?: string, handler?: object): void;
interface CorsOptions { origins?: string[]; headers?: string[]; exposedHeaders?: string[]; credentials?: boolean }
declare function answers(...statuses: i32[]): (type: object, name: string, handler: object) => void;

declare function alias(...names: string[]): (type: object, field: string) => void;
declare function optional(type: object, field: string): void;
declare function secret(type: object, field: string): void;
declare function command(name: string): (type: object, name: string, handler: object) => void;
declare function query(name: string): (type: object, name: string, handler: object) => void;
declare function get(path: string): (type: object, name: string, handler: object) => void;
declare function post(path: string): (type: object, name: string, handler: object) => void;
declare function put(path: string): (type: object, name: string, handler: object) => void;
declare function patch(path: string): (type: object, name: string, handler: object) => void;
declare function del(path: string): (type: object, name: string, handler: object) => void;
