/** Loaded before the service (`--import`), it leaves out what counts and times requests and stores: what they cost is then the difference. */
import { CommandOutcomes } from '../../dist/commands/core/command-outcomes.js'
import { RequestMetrics } from '../../dist/http/health/health.js'
import { StoreMetrics } from '../../dist/wiring/store-metrics.js'

RequestMetrics.prototype.record = () => undefined
StoreMetrics.prototype.instrument = (_store, _engine, port) => port
CommandOutcomes.prototype.track = (_stream, command) => command()
