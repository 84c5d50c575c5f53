// The registry: a module has only the components that are registered.
import { Consumer } from "./consumer";
import { EntityComponent } from "./entity";
import { EndpointComponent } from "./http-call";
import { ViewComponent } from "./view";

const entities = new Map<string, EntityComponent>();
const endpoints: EndpointComponent[] = [];
const views = new Map<string, ViewComponent>();
const consumers = new Map<string, Consumer>();

/** Registers an @entity, @endpoint, @view or @consumer class. Call it at the top level of a file. */
export function register<T>(): void {
  instantiate<T>().__svc_register();
}

export function addEntity(entity: EntityComponent): void {
  entities.set(entity.__svc_component(), entity);
}

export function addEndpoint(endpoint: EndpointComponent): void {
  endpoints.push(endpoint);
}

export function addView(view: ViewComponent): void {
  views.set(view.__svc_view(), view);
}

export function viewOf(id: string): ViewComponent {
  if (!views.has(id)) throw new Error("view '" + id + "' is not registered");
  return views.get(id);
}

export function addConsumer(consumer: Consumer): void {
  consumers.set(consumer.__svc_consumer(), consumer);
}

export function consumerOf(id: string): Consumer {
  if (!consumers.has(id)) throw new Error("consumer '" + id + "' is not registered");
  return consumers.get(id);
}

export function entityOf(component: string): EntityComponent {
  if (!entities.has(component)) throw new Error("component '" + component + "' is not registered");
  return entities.get(component);
}

/** Returns the endpoint that serves a route of the descriptor. */
export function endpointOf(route: i32): EndpointComponent {
  for (let i = 0; i < endpoints.length; ++i) {
    const endpoint = endpoints[i];
    const first = endpoint.__svc_firstRoute();
    if (route >= first && route < first + endpoint.__svc_routeCount()) return endpoint;
  }
  throw new Error("route " + route.toString() + " is not registered");
}
