// The parking spaces over HTTP.
import { defineEndpoint, del, get, put } from '@svc/process';
import { Parking, Space, space } from './space.ts';

export const spaceEndpoint = defineEndpoint({
  prefix: '/spaces',
  access: 'internet',
  routes: {
    get: get('/{number}', { reply: Space }, ({ parameters }, { call }) =>
      call(space, parameters.number).get(),
    ),

    park: put('/{number}/car', { body: Parking, reply: Space }, ({ parameters, body }, { call }) =>
      call(space, parameters.number).park(body),
    ),

    leave: del('/{number}/car', {}, ({ parameters }, { call }) =>
      call(space, parameters.number).leave(),
    ),
  },
});
