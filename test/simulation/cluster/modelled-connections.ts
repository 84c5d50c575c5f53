// ModelledConnections are the connections of simulated nodes to the model of the database, in place of those to a server.
import type * as connections from '../../../host/storage/postgres/connect-database.ts';
import { connectToModel } from '../../support/modelled-database/modelled-session.ts';

export const connectDatabase: (typeof connections)['connectDatabase'] = (_source, options) =>
  connectToModel(options);
