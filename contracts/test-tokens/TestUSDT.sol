// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {MintedToken} from "./MintedToken.sol";

/// @title A test token with the manners of USDT
/// @notice Nothing is returned by `transfer`, `transferFrom` and `approve`; an allowance must be taken to zero
/// before it is changed; and the issuer can switch on a fee, taken out of what arrives.
contract TestUSDT is MintedToken {
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint256 public basisPointsRate;

    error AllowanceNotZero();
    error FeeTooHigh();

    constructor(address minter, uint256 supply) MintedToken(minter, supply) {}

    function setFee(uint256 basisPoints) external onlyMinter {
        if (basisPoints > 20) revert FeeTooHigh();
        basisPointsRate = basisPoints;
    }

    /// A blocked address can still be paid, and what is paid to it is stuck there.
    function isBlackListed(address account) external view returns (bool) {
        return blocked[account];
    }

    function addBlackList(address account) external onlyMinter {
        blocked[account] = true;
    }

    function removeBlackList(address account) external onlyMinter {
        blocked[account] = false;
    }

    function transfer(address to, uint256 value) external {
        _transferLessFee(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        _spend(from, value);
        _transferLessFee(from, to, value);
    }

    function approve(address spender, uint256 value) external {
        if (value != 0 && allowance[msg.sender][spender] != 0) revert AllowanceNotZero();
        _approve(msg.sender, spender, value);
    }

    function _transferLessFee(address from, address to, uint256 value) private {
        uint256 fee = (value * basisPointsRate) / 10_000;
        _transfer(from, to, value - fee);
        if (fee > 0) _transfer(from, minter, fee);
    }
}
