import { sandboxChannelSuite } from '../ports/suites/sandbox-channel.suite.ts'
import { sandboxRuntimeSuite } from '../ports/suites/sandbox-runtime.suite.ts'
import { reachOverTcp } from '../remote-sandboxes/testing.ts'
import { channelUnderTest, type Reach, runtimeUnderTest } from './testing-suites.ts'

/* Real sandboxes, as a service on another computer reaches them. */

const overTcp: Reach = (sandboxes) => reachOverTcp(sandboxes)

sandboxRuntimeSuite('qemu of a remote host', () => runtimeUnderTest(overTcp))
sandboxChannelSuite('qemu of a remote host', () => channelUnderTest(overTcp))
