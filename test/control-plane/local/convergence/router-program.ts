// A program that routes requests as the gateway does, without any requests: it follows the routes of a machine at a socket, acknowledges
// holds, and writes each table that it uses as a line.
// argv: path of the socket.
import { RouteClient } from '@svc/routing/route-client';
import { ROUTING_TIMES } from '@svc/routing/routing-limits';
import { GATEWAY_DEFAULTS } from '../../../../gateway/gateway-section.ts';
import { RoutedRequests } from '../../../../gateway/routed-requests.ts';

const requests = new RoutedRequests(GATEWAY_DEFAULTS);
const client = new RouteClient(
  process.argv[2]!,
  {
    use: (table) => {
      requests.use(table);
      process.stdout.write(`${JSON.stringify(table)}\n`);
    },
    hold: (key) => requests.hold(key),
    release: (key) => requests.release(key),
  },
  { ...ROUTING_TIMES, reconnectMs: [10, 50] },
);
process.once('SIGTERM', () => client.close());
setInterval(() => {}, 1000);
