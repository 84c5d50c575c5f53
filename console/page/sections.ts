// Sections: the screens of one service, in the order of the navigation. The functions are pure.
import { tracesView, type ServiceView } from './route.ts';

export interface Section {
  readonly name: string;
  /** Key that opens the section, after 'g'. */
  readonly key: string;
  readonly screen: Exclude<ServiceView['screen'], 'trace'>;
  readonly viewOf: (instanceId: string) => ServiceView;
}

export const SECTIONS: readonly Section[] = [
  {
    name: 'Overview',
    key: 'o',
    screen: 'overview',
    viewOf: (instanceId) => ({ screen: 'overview', instanceId }),
  },
  {
    name: 'Routes',
    key: 'r',
    screen: 'routes',
    viewOf: (instanceId) => ({ screen: 'routes', instanceId, route: undefined }),
  },
  {
    name: 'Traces',
    key: 't',
    screen: 'traces',
    viewOf: (instanceId) => tracesView(instanceId),
  },
  {
    name: 'Entities',
    key: 'e',
    screen: 'entities',
    viewOf: (instanceId) => ({
      screen: 'entities',
      instanceId,
      component: undefined,
      id: undefined,
      tab: 'journal',
      at: undefined,
      query: undefined,
    }),
  },
  {
    name: 'Views',
    key: 'v',
    screen: 'views',
    viewOf: (instanceId) => ({ screen: 'views', instanceId, view: undefined, query: undefined }),
  },
  {
    name: 'Timers',
    key: 'm',
    screen: 'timers',
    viewOf: (instanceId) => ({ screen: 'timers', instanceId, state: undefined }),
  },
  {
    name: 'Consumers',
    key: 'c',
    screen: 'consumers',
    viewOf: (instanceId) => ({ screen: 'consumers', instanceId, consumer: undefined }),
  },
  {
    name: 'Faults',
    key: 'f',
    screen: 'faults',
    viewOf: (instanceId) => ({ screen: 'faults', instanceId }),
  },
];
