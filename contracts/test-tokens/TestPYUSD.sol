// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {MintedToken} from "./MintedToken.sol";
import {SignedToken} from "./SignedToken.sol";

/// @title A test token that signs like PYUSD
contract TestPYUSD is SignedToken {
    constructor(address minter, uint256 supply) MintedToken(minter, supply) SignedToken("PayPal USD", "PYUSD", "1") {}

    function isFrozen(address account) external view returns (bool) {
        return blocked[account];
    }

    function freeze(address account) external onlyMinter {
        blocked[account] = true;
    }

    function unfreeze(address account) external onlyMinter {
        blocked[account] = false;
    }
}
