/** Loaded before the service (`--import`), it leaves out what counts and times requests and stores: what they cost is then the difference. */
import { CommandOutcomes } from '../../dist/commands/core/outcomes.js'
import { RequestFigures } from '../../dist/http/health/health.js'
import { StoreTimes } from '../../dist/wiring/store-times.js'

RequestFigures.prototype.saw = () => undefined
StoreTimes.prototype.of = (_store, _engine, port) => port
CommandOutcomes.prototype.of = (_stream, command) => command()
