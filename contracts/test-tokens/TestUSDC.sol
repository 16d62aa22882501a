// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {MintedToken} from "./MintedToken.sol";
import {SignedToken} from "./SignedToken.sol";

/// @title A test token that signs like USDC
contract TestUSDC is SignedToken {
    constructor(address minter, uint256 supply) MintedToken(minter, supply) SignedToken("USD Coin", "USDC", "2") {}

    function isBlacklisted(address account) external view returns (bool) {
        return blocked[account];
    }

    function blacklist(address account) external onlyMinter {
        blocked[account] = true;
    }

    function unBlacklist(address account) external onlyMinter {
        blocked[account] = false;
    }
}
