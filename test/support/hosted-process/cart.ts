// The shopping cart of all hostings. An image has its source here instead (typescript-cart.ts).
export { cart, cartEndpoint } from '../../components/support/cart.ts';
