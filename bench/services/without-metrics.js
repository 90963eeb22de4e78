/** Preloaded into the service (`--import`): disables metrics of requests, stores and commands, so that their cost can be measured. */
import { CommandOutcomes } from '../../dist/commands/core/command-outcomes.js'
import { RequestMetrics } from '../../dist/http/health/health.js'
import { StoreMetrics } from '../../dist/wiring/store-metrics.js'

RequestMetrics.prototype.record = () => undefined
StoreMetrics.prototype.instrument = (_store, _engine, port) => port
CommandOutcomes.prototype.track = (_stream, command) => command()
