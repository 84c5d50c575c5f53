// What a test gives to commands, queries and routes that it knows nothing of.
export { sampleJson } from '../../host/history/sample-json.ts';
