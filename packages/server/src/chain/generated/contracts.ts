// Made from contracts/*.sol by `npm run generate`; do not edit.

export const compiler = {
  "solc": "0.8.37+commit.f401782d.Emscripten.clang",
  "evmVersion": "shanghai",
  "optimizer": {
    "enabled": true,
    "runs": 1000
  },
  "metadata": {
    "appendCBOR": false,
    "bytecodeHash": "none"
  },
  "outputSelection": {
    "*": {
      "*": [
        "abi",
        "evm.bytecode.object",
        "evm.deployedBytecode.object",
        "evm.deployedBytecode.immutableReferences"
      ]
    }
  }
} as const

export const Forwarder = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "treasury_",
          "type": "address"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "NativeTransferFailed",
      "type": "error"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "token",
          "type": "address"
        }
      ],
      "name": "TransferFailed",
      "type": "error"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "token",
          "type": "address"
        }
      ],
      "name": "flush",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "flushNative",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "treasury",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "stateMutability": "payable",
      "type": "receive"
    }
  ],
  "bytecode": "0x60a0604052348015600e575f5ffd5b50604051610477380380610477833981016040819052602b91603b565b6001600160a01b03166080526066565b5f60208284031215604a575f5ffd5b81516001600160a01b0381168114605f575f5ffd5b9392505050565b6080516103ed61008a5f395f818160680152818160c8015261020c01526103ed5ff3fe608060405260043610610036575f3560e01c80635d6fefc61461004157806361d027b31461005757806379c76e1a146100a6575f5ffd5b3661003d57005b5f5ffd5b34801561004c575f5ffd5b506100556100c5565b005b348015610062575f5ffd5b5061008a7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b03909116815260200160405180910390f35b3480156100b1575f5ffd5b506100556100c036600461035e565b610171565b5f7f00000000000000000000000000000000000000000000000000000000000000006001600160a01b0316476040515f6040518083038185875af1925050503d805f811461012e576040519150601f19603f3d011682016040523d82523d5f602084013e610133565b606091505b505090508061016e576040517ff4b3b1bc00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b50565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f906001600160a01b038316906370a0823190602401602060405180830381865afa1580156101ce573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906101f2919061038b565b9050805f036101ff575050565b6040516001600160a01b037f000000000000000000000000000000000000000000000000000000000000000081166024830152604482018390525f91829185169060640160408051601f198184030181529181526020820180517bffffffffffffffffffffffffffffffffffffffffffffffffffffffff167fa9059cbb00000000000000000000000000000000000000000000000000000000179052516102a691906103a2565b5f604051808303815f865af19150503d805f81146102df576040519150601f19603f3d011682016040523d82523d5f602084013e6102e4565b606091505b5091509150811580610312575080511580159061031257508080602001905181019061031091906103ce565b155b15610358576040517f39f1c8d90000000000000000000000000000000000000000000000000000000081526001600160a01b038516600482015260240160405180910390fd5b50505050565b5f6020828403121561036e575f5ffd5b81356001600160a01b0381168114610384575f5ffd5b9392505050565b5f6020828403121561039b575f5ffd5b5051919050565b5f82515f5b818110156103c157602081860181015185830152016103a7565b505f920191825250919050565b5f602082840312156103de575f5ffd5b81518015158114610384575f5ffd",
  "deployed": {
    "bytecode": "0x608060405260043610610036575f3560e01c80635d6fefc61461004157806361d027b31461005757806379c76e1a146100a6575f5ffd5b3661003d57005b5f5ffd5b34801561004c575f5ffd5b506100556100c5565b005b348015610062575f5ffd5b5061008a7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b03909116815260200160405180910390f35b3480156100b1575f5ffd5b506100556100c036600461035e565b610171565b5f7f00000000000000000000000000000000000000000000000000000000000000006001600160a01b0316476040515f6040518083038185875af1925050503d805f811461012e576040519150601f19603f3d011682016040523d82523d5f602084013e610133565b606091505b505090508061016e576040517ff4b3b1bc00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b50565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f906001600160a01b038316906370a0823190602401602060405180830381865afa1580156101ce573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906101f2919061038b565b9050805f036101ff575050565b6040516001600160a01b037f000000000000000000000000000000000000000000000000000000000000000081166024830152604482018390525f91829185169060640160408051601f198184030181529181526020820180517bffffffffffffffffffffffffffffffffffffffffffffffffffffffff167fa9059cbb00000000000000000000000000000000000000000000000000000000179052516102a691906103a2565b5f604051808303815f865af19150503d805f81146102df576040519150601f19603f3d011682016040523d82523d5f602084013e6102e4565b606091505b5091509150811580610312575080511580159061031257508080602001905181019061031091906103ce565b155b15610358576040517f39f1c8d90000000000000000000000000000000000000000000000000000000081526001600160a01b038516600482015260240160405180910390fd5b50505050565b5f6020828403121561036e575f5ffd5b81356001600160a01b0381168114610384575f5ffd5b9392505050565b5f6020828403121561039b575f5ffd5b5051919050565b5f82515f5b818110156103c157602081860181015185830152016103a7565b505f920191825250919050565b5f602082840312156103de575f5ffd5b81518015158114610384575f5ffd",
    "immutableAt": [
      104,
      200,
      524
    ]
  }
} as const

export const ForwarderFactory = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "treasury",
          "type": "address"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "salt",
          "type": "bytes32"
        }
      ],
      "name": "DeployFailed",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "TooLittleGas",
      "type": "error"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "forwarder",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "token",
          "type": "address"
        }
      ],
      "name": "FlushFailed",
      "type": "event"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "salt",
          "type": "bytes32"
        }
      ],
      "name": "deploy",
      "outputs": [
        {
          "internalType": "address",
          "name": "forwarder",
          "type": "address"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "components": [
            {
              "internalType": "bytes32",
              "name": "salt",
              "type": "bytes32"
            },
            {
              "internalType": "address",
              "name": "token",
              "type": "address"
            }
          ],
          "internalType": "struct ForwarderFactory.Item[]",
          "name": "items",
          "type": "tuple[]"
        }
      ],
      "name": "flush",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "implementation",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "salt",
          "type": "bytes32"
        }
      ],
      "name": "predict",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    }
  ],
  "bytecode": "0x60a060405234801561000f575f5ffd5b50604051610b17380380610b1783398101604081905261002e91610084565b8060405161003b90610077565b6001600160a01b039091168152602001604051809103905ff080158015610064573d5f5f3e3d5ffd5b506001600160a01b0316608052506100b1565b610477806106a083390190565b5f60208284031215610094575f5ffd5b81516001600160a01b03811681146100aa575f5ffd5b9392505050565b6080516105ca6100d65f395f818160aa0152818161020f015261034e01526105ca5ff3fe608060405234801561000f575f5ffd5b506004361061004a575f3560e01c8063097a66c11461004e5780630e787cce146100635780632b85ba38146100925780635c60da1b146100a5575b5f5ffd5b61006161005c3660046104e2565b6100cc565b005b610076610071366004610553565b6101d0565b6040516001600160a01b03909116815260200160405180910390f35b6100766100a0366004610553565b6102ef565b6100767f000000000000000000000000000000000000000000000000000000000000000081565b5f5b818110156101cb575f6100fa8484848181106100ec576100ec61056a565b9050604002015f01356102ef565b90505f84848481811061010f5761010f61056a565b9050604002016020016020810190610127919061057e565b90505f5a90506101378383610418565b6101c0576101466010826105ab565b5a101561017f576040517f5dd42bb600000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b816001600160a01b0316836001600160a01b03167fc5b17a866221dd7f58e7ef3bf01a810ae0fd6a2b1d01605a15ec1875636168c260405160405180910390a35b5050506001016100ce565b505050565b5f5f610272604080517f3d602d80600a3d3981f3363d3d373d3d3d363d7300000000000000000000000060208201526bffffffffffffffffffffffff197f000000000000000000000000000000000000000000000000000000000000000060601b1660348201527f5af43d82803e903d91602b57fd5bf30000000000000000000000000000000000604882015281516037818303018152605790910190915290565b80516020918201206040517fff00000000000000000000000000000000000000000000000000000000000000928101929092526bffffffffffffffffffffffff193060601b1660218301526035820185905260558201819052915060750160408051601f1981840301815291905280516020909101209392505050565b5f6102f9826101d0565b90506001600160a01b0381163b1561031057919050565b5f6103b1604080517f3d602d80600a3d3981f3363d3d373d3d3d363d7300000000000000000000000060208201526bffffffffffffffffffffffff197f000000000000000000000000000000000000000000000000000000000000000060601b1660348201527f5af43d82803e903d91602b57fd5bf30000000000000000000000000000000000604882015281516037818303018152605790910190915290565b90505f838251602084015ff59050826001600160a01b0316816001600160a01b031614610411576040517ff1a9a5630000000000000000000000000000000000000000000000000000000081526004810185905260240160405180910390fd5b5050919050565b5f6001600160a01b03821661048357826001600160a01b0316635d6fefc66040518163ffffffff1660e01b81526004015f604051808303815f87803b15801561045f575f5ffd5b505af1925050508015610470575060015b61047b57505f6104dc565b5060016104dc565b6040517f79c76e1a0000000000000000000000000000000000000000000000000000000081526001600160a01b0383811660048301528416906379c76e1a906024015f604051808303815f87803b15801561045f575f5ffd5b92915050565b5f5f602083850312156104f3575f5ffd5b823567ffffffffffffffff811115610509575f5ffd5b8301601f81018513610519575f5ffd5b803567ffffffffffffffff81111561052f575f5ffd5b8560208260061b8401011115610543575f5ffd5b6020919091019590945092505050565b5f60208284031215610563575f5ffd5b5035919050565b634e487b7160e01b5f52603260045260245ffd5b5f6020828403121561058e575f5ffd5b81356001600160a01b03811681146105a4575f5ffd5b9392505050565b5f826105c557634e487b7160e01b5f52601260045260245ffd5b5004905660a0604052348015600e575f5ffd5b50604051610477380380610477833981016040819052602b91603b565b6001600160a01b03166080526066565b5f60208284031215604a575f5ffd5b81516001600160a01b0381168114605f575f5ffd5b9392505050565b6080516103ed61008a5f395f818160680152818160c8015261020c01526103ed5ff3fe608060405260043610610036575f3560e01c80635d6fefc61461004157806361d027b31461005757806379c76e1a146100a6575f5ffd5b3661003d57005b5f5ffd5b34801561004c575f5ffd5b506100556100c5565b005b348015610062575f5ffd5b5061008a7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b03909116815260200160405180910390f35b3480156100b1575f5ffd5b506100556100c036600461035e565b610171565b5f7f00000000000000000000000000000000000000000000000000000000000000006001600160a01b0316476040515f6040518083038185875af1925050503d805f811461012e576040519150601f19603f3d011682016040523d82523d5f602084013e610133565b606091505b505090508061016e576040517ff4b3b1bc00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b50565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f906001600160a01b038316906370a0823190602401602060405180830381865afa1580156101ce573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906101f2919061038b565b9050805f036101ff575050565b6040516001600160a01b037f000000000000000000000000000000000000000000000000000000000000000081166024830152604482018390525f91829185169060640160408051601f198184030181529181526020820180517bffffffffffffffffffffffffffffffffffffffffffffffffffffffff167fa9059cbb00000000000000000000000000000000000000000000000000000000179052516102a691906103a2565b5f604051808303815f865af19150503d805f81146102df576040519150601f19603f3d011682016040523d82523d5f602084013e6102e4565b606091505b5091509150811580610312575080511580159061031257508080602001905181019061031091906103ce565b155b15610358576040517f39f1c8d90000000000000000000000000000000000000000000000000000000081526001600160a01b038516600482015260240160405180910390fd5b50505050565b5f6020828403121561036e575f5ffd5b81356001600160a01b0381168114610384575f5ffd5b9392505050565b5f6020828403121561039b575f5ffd5b5051919050565b5f82515f5b818110156103c157602081860181015185830152016103a7565b505f920191825250919050565b5f602082840312156103de575f5ffd5b81518015158114610384575f5ffd",
  "deployed": {
    "bytecode": "0x608060405234801561000f575f5ffd5b506004361061004a575f3560e01c8063097a66c11461004e5780630e787cce146100635780632b85ba38146100925780635c60da1b146100a5575b5f5ffd5b61006161005c3660046104e2565b6100cc565b005b610076610071366004610553565b6101d0565b6040516001600160a01b03909116815260200160405180910390f35b6100766100a0366004610553565b6102ef565b6100767f000000000000000000000000000000000000000000000000000000000000000081565b5f5b818110156101cb575f6100fa8484848181106100ec576100ec61056a565b9050604002015f01356102ef565b90505f84848481811061010f5761010f61056a565b9050604002016020016020810190610127919061057e565b90505f5a90506101378383610418565b6101c0576101466010826105ab565b5a101561017f576040517f5dd42bb600000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b816001600160a01b0316836001600160a01b03167fc5b17a866221dd7f58e7ef3bf01a810ae0fd6a2b1d01605a15ec1875636168c260405160405180910390a35b5050506001016100ce565b505050565b5f5f610272604080517f3d602d80600a3d3981f3363d3d373d3d3d363d7300000000000000000000000060208201526bffffffffffffffffffffffff197f000000000000000000000000000000000000000000000000000000000000000060601b1660348201527f5af43d82803e903d91602b57fd5bf30000000000000000000000000000000000604882015281516037818303018152605790910190915290565b80516020918201206040517fff00000000000000000000000000000000000000000000000000000000000000928101929092526bffffffffffffffffffffffff193060601b1660218301526035820185905260558201819052915060750160408051601f1981840301815291905280516020909101209392505050565b5f6102f9826101d0565b90506001600160a01b0381163b1561031057919050565b5f6103b1604080517f3d602d80600a3d3981f3363d3d373d3d3d363d7300000000000000000000000060208201526bffffffffffffffffffffffff197f000000000000000000000000000000000000000000000000000000000000000060601b1660348201527f5af43d82803e903d91602b57fd5bf30000000000000000000000000000000000604882015281516037818303018152605790910190915290565b90505f838251602084015ff59050826001600160a01b0316816001600160a01b031614610411576040517ff1a9a5630000000000000000000000000000000000000000000000000000000081526004810185905260240160405180910390fd5b5050919050565b5f6001600160a01b03821661048357826001600160a01b0316635d6fefc66040518163ffffffff1660e01b81526004015f604051808303815f87803b15801561045f575f5ffd5b505af1925050508015610470575060015b61047b57505f6104dc565b5060016104dc565b6040517f79c76e1a0000000000000000000000000000000000000000000000000000000081526001600160a01b0383811660048301528416906379c76e1a906024015f604051808303815f87803b15801561045f575f5ffd5b92915050565b5f5f602083850312156104f3575f5ffd5b823567ffffffffffffffff811115610509575f5ffd5b8301601f81018513610519575f5ffd5b803567ffffffffffffffff81111561052f575f5ffd5b8560208260061b8401011115610543575f5ffd5b6020919091019590945092505050565b5f60208284031215610563575f5ffd5b5035919050565b634e487b7160e01b5f52603260045260245ffd5b5f6020828403121561058e575f5ffd5b81356001600160a01b03811681146105a4575f5ffd5b9392505050565b5f826105c557634e487b7160e01b5f52601260045260245ffd5b50049056",
    "immutableAt": [
      170,
      527,
      846
    ]
  }
} as const

export const HostileToken = {
  "abi": [
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Transfer",
      "type": "event"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "owner",
          "type": "address"
        }
      ],
      "name": "balanceOf",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "enum HostileToken.Manner",
          "name": "manner_",
          "type": "uint8"
        },
        {
          "internalType": "contract Flushing",
          "name": "factory_",
          "type": "address"
        },
        {
          "internalType": "bytes32",
          "name": "salt_",
          "type": "bytes32"
        }
      ],
      "name": "behave",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "owner",
          "type": "address"
        }
      ],
      "name": "held",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "manner",
      "outputs": [
        {
          "internalType": "enum HostileToken.Manner",
          "name": "",
          "type": "uint8"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "mint",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transfer",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    }
  ],
  "bytecode": "0x6080604052348015600e575f5ffd5b5061084e8061001c5f395ff3fe608060405234801561000f575f5ffd5b506004361061006f575f3560e01c806370a082311161004d57806370a08231146100d6578063a9059cbb146100e9578063d8c8ac2d146100fc575f5ffd5b806332f750ff146100735780633b9cb3d6146100ae57806340c10f19146100c3575b5f5ffd5b61009b6100813660046106c3565b6001600160a01b03165f9081526001602052604090205490565b6040519081526020015b60405180910390f35b6100c16100bc3660046106e5565b610115565b005b6100c16100d1366004610726565b610177565b61009b6100e43660046106c3565b6101a7565b6100c16100f7366004610726565b61020c565b5f546101089060ff1681565b6040516100a59190610764565b5f805484919060ff1916600183600c81111561013357610133610750565b0217905550600280547fffffffffffffffffffffffff0000000000000000000000000000000000000000166001600160a01b03939093169290921790915560035550565b6001600160a01b0382165f908152600160205260408120805483929061019e90849061079e565b90915550505050565b5f600b5f5460ff16600c8111156101c0576101c0610750565b146101e2576001600160a01b0382165f90815260016020526040902054610206565b6001600160a01b0382165f908152600160208190526040909120546102069161079e565b92915050565b60065f5460ff16600c81111561022457610224610750565b036102765760405162461bcd60e51b815260206004820152600260248201527f4e6f00000000000000000000000000000000000000000000000000000000000060448201526064015b60405180910390fd5b600c5f5460ff16600c81111561028e5761028e610750565b03610299575b610294565b60075f5460ff16600c8111156102b1576102b1610750565b036102c4576102c4614e205f6001610540565b600a5f5460ff16600c8111156102dc576102dc610750565b03610415575f805460ff1916815560408051600180825281830190925290816020015b604080518082019091525f80825260208201528152602001906001900390816102ff57905050905060405180604001604052806003548152602001306001600160a01b0316815250815f81518110610359576103596107b1565b60209081029190910101526002546040517f097a66c10000000000000000000000000000000000000000000000000000000081526001600160a01b039091169063097a66c1906103ad9084906004016107c5565b5f604051808303815f87803b1580156103c4575f5ffd5b505af11580156103d6573d5f5f3e3d5ffd5b50505f805460ff1916600a178155338152600160205260409020548411915061040190505781610411565b335f908152600160205260409020545b9150505b60095f5460ff16600c81111561042d5761042d610750565b14158015610451575060025f5460ff16600c81111561044e5761044e610750565b14155b15610460576104608282610554565b60015f5460ff16600c81111561047857610478610750565b03610488576104885f5f5f610540565b60025f5460ff16600c8111156104a0576104a0610750565b036104b1576104b160205f5f610540565b60035f5460ff16600c8111156104c9576104c9610750565b036104db576104db602060025f610540565b60045f5460ff16600c8111156104f3576104f3610750565b03610504576105046001805f610540565b60055f5460ff16600c81111561051c5761051c610750565b0361052f5761052f614e2060015f610540565b61053c602060015f610540565b5050565b815f52806001811461055057835ff35b835ffd5b335f908152600160205260409020548111156105b25760405162461bcd60e51b815260206004820152600760248201527f42616c616e636500000000000000000000000000000000000000000000000000604482015260640161026d565b335f90815260016020526040812080548392906105d090849061081c565b909155505f905060085f5460ff16600c8111156105ef576105ef610750565b146105fa575f610605565b610605600a8361082f565b9050610611818361081c565b6001600160a01b0384165f908152600160205260408120805490919061063890849061079e565b9091555050305f908152600160205260408120805483929061065b90849061079e565b90915550506001600160a01b038316337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef610696848661081c565b60405190815260200160405180910390a3505050565b6001600160a01b03811681146106c0575f5ffd5b50565b5f602082840312156106d3575f5ffd5b81356106de816106ac565b9392505050565b5f5f5f606084860312156106f7575f5ffd5b8335600d8110610705575f5ffd5b92506020840135610715816106ac565b929592945050506040919091013590565b5f5f60408385031215610737575f5ffd5b8235610742816106ac565b946020939093013593505050565b634e487b7160e01b5f52602160045260245ffd5b60208101600d831061078457634e487b7160e01b5f52602160045260245ffd5b91905290565b634e487b7160e01b5f52601160045260245ffd5b808201808211156102065761020661078a565b634e487b7160e01b5f52603260045260245ffd5b602080825282518282018190525f918401906040840190835b81811015610811578351805184526020908101516001600160a01b031681850152909301926040909201916001016107de565b509095945050505050565b818103818111156102065761020661078a565b5f8261084957634e487b7160e01b5f52601260045260245ffd5b50049056"
} as const

export const TestPYUSD = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "minter",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "supply",
          "type": "uint256"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "AuthorizationSpent",
      "type": "error"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "Blocked",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "CallerNotPayee",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "Expired",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientAllowance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientBalance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InvalidSignature",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotMinter",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotYetValid",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "Paused",
      "type": "error"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Approval",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        }
      ],
      "name": "AuthorizationCanceled",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        }
      ],
      "name": "AuthorizationUsed",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Transfer",
      "type": "event"
    },
    {
      "inputs": [],
      "name": "CANCEL_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "DOMAIN_SEPARATOR",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "PERMIT_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "RECEIVE_WITH_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "TRANSFER_WITH_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "allowance",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "approve",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "name": "authorizationState",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "balanceOf",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "cancelAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "decimals",
      "outputs": [
        {
          "internalType": "uint8",
          "name": "",
          "type": "uint8"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "freeze",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "isFrozen",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "mint",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "minter",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "name",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "nonces",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "pause",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "paused",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "deadline",
          "type": "uint256"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "permit",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validAfter",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validBefore",
          "type": "uint256"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "receiveWithAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "symbol",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "totalSupply",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transfer",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transferFrom",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validAfter",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validBefore",
          "type": "uint256"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "transferWithAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "unfreeze",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "unpause",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "version",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    }
  ],
  "bytecode": "0x60a060405234801561000f575f5ffd5b506040516117ac3803806117ac83398101604081905261002e91610156565b604080518082018252600a81526914185e54185b081554d160b21b60208083019190915282518084018452600581526414165554d160da1b81830152835180850190945260018452603160f81b918401919091526001600160a01b0385166080529091848461009d82826100d1565b50600590506100ac8482610230565b5060066100b98382610230565b5060076100c68282610230565b505050505050610313565b805f5f8282546100e191906102ee565b90915550506001600160a01b0382165f908152600160205260408120805483929061010d9084906102ee565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b5f5f60408385031215610167575f5ffd5b82516001600160a01b038116811461017d575f5ffd5b6020939093015192949293505050565b634e487b7160e01b5f52604160045260245ffd5b600181811c908216806101b557607f821691505b6020821081036101d357634e487b7160e01b5f52602260045260245ffd5b50919050565b601f82111561022b578282111561022b57805f5260205f20601f840160051c602085101561020457505f5b90810190601f840160051c035f5b81811015610227575f83820155600101610212565b5050505b505050565b81516001600160401b038111156102495761024961018d565b61025d8161025784546101a1565b846101d9565b6020601f82116001811461028f575f83156102785750848201515b5f19600385901b1c1916600184901b1784556102e7565b5f84815260208120601f198516915b828110156102be578785015182556020948501946001909201910161029e565b50848210156102db57868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b8082018082111561030d57634e487b7160e01b5f52601160045260245ffd5b92915050565b60805161145e61034e5f395f81816101ed015281816106170152818161066c015281816106c301528181610842015261089a015261145e5ff3fe608060405234801561000f575f5ffd5b50600436106101c6575f3560e01c806370a08231116100fe578063a9059cbb1161009e578063e3ee160e1161006e578063e3ee160e1461043a578063e58398361461044d578063e94a010214610478578063ef55bec6146104a5575f5ffd5b8063a9059cbb146103c3578063d505accf146103d6578063d9169487146103e9578063dd62ed3e14610410575f5ffd5b80638456cb59116100d95780638456cb59146103795780638d1fdf2f1461038157806395d89b4114610394578063a0cc6a681461039c575f5ffd5b806370a08231146103145780637ecebe00146103335780637f2eecc314610352575f5ffd5b80633644e5151161016957806345c8b1a61161014457806345c8b1a6146102d957806354fd4d50146102ec5780635a049a70146102f45780635c975abb14610307575f5ffd5b80633644e515146102b45780633f4ba83a146102bc57806340c10f19146102c6575f5ffd5b806318160ddd116101a457806318160ddd1461024a57806323b872dd1461026057806330adf81f14610273578063313ce5671461029a575f5ffd5b806306fdde03146101ca57806307546172146101e8578063095ea7b314610227575b5f5ffd5b6101d26104b8565b6040516101df91906110e4565b60405180910390f35b61020f7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b0390911681526020016101df565b61023a61023536600461114a565b610544565b60405190151581526020016101df565b6102525f5481565b6040519081526020016101df565b61023a61026e366004611172565b61055a565b6102527f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c981565b6102a2600681565b60405160ff90911681526020016101df565b61025261057a565b6102c461060c565b005b6102c46102d436600461114a565b610661565b6102c46102e73660046111ac565b6106b8565b6101d2610721565b6102c46103023660046111dc565b61072e565b60035461023a9060ff1681565b6102526103223660046111ac565b60016020525f908152604090205481565b6102526103413660046111ac565b60086020525f908152604090205481565b6102527fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de881565b6102c4610837565b6102c461038f3660046111ac565b61088f565b6101d26108fb565b6102527f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a226781565b61023a6103d136600461114a565b610908565b6102c46103e4366004611226565b610914565b6102527f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742981565b61025261041e36600461128c565b600260209081525f928352604080842090915290825290205481565b6102c46104483660046112bd565b6109f7565b61023a61045b3660046111ac565b6001600160a01b03165f9081526004602052604090205460ff1690565b61023a61048636600461114a565b600960209081525f928352604080842090915290825290205460ff1681565b6102c46104b33660046112bd565b610aa0565b600580546104c590611338565b80601f01602080910402602001604051908101604052809291908181526020018280546104f190611338565b801561053c5780601f106105135761010080835404028352916020019161053c565b820191905f5260205f20905b81548152906001019060200180831161051f57829003601f168201915b505050505081565b5f610550338484610b4f565b5060015b92915050565b5f6105658483610bb0565b610570848484610c48565b5060019392505050565b5f7f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60056040516105ab9190611370565b604051809103902060076040516105c29190611370565b60408051918290038220602083019490945281019190915260608101919091524660808201523060a082015260c00160405160208183030381529060405280519060200120905090565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461065557604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19169055565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146106aa57604051633e34a41b60e21b815260040160405180910390fd5b6106b48282610c9c565b5050565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461070157604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19169055565b600780546104c590611338565b6001600160a01b0385165f90815260096020908152604080832087845290915290205460ff161561077257604051637960de1f60e11b815260040160405180910390fd5b604080517f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742960208201526001600160a01b03871691810191909152606081018590526107db90869060800160405160208183030381529060405280519060200120858585610d21565b6001600160a01b0385165f818152600960209081526040808320888452909152808220805460ff19166001179055518692917f1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d8191a35050505050565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461088057604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19166001179055565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146108d857604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19166001179055565b600680546104c590611338565b5f610550338484610c48565b8342111561093557604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0387165f90815260086020526040812080547f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9918a918a918a91908661098183611420565b909155506040805160208101969096526001600160a01b0394851690860152929091166060840152608083015260a082015260c0810186905260e0016040516020818303038152906040528051906020012090506109e28882868686610d21565b6109ed888888610b4f565b5050505050505050565b604080517f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f90610100015b604051602081830303815290604052805190602001209050610a888b828a8a8a8a8a8a610e6a565b610a938b8b8b610c48565b5050505050505050505050565b6001600160a01b0388163314610ae2576040517f0476d41900000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b604080517fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f9061010001610a60565b6001600160a01b038381165f8181526002602090815260408083209487168084529482529182902085905590518481527f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92591015b60405180910390a3505050565b6001600160a01b0382165f90815260026020908152604080832033845290915290205481811015610c0d576040517f13be252b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f198114610c4357610c1f8282611438565b6001600160a01b0384165f9081526002602090815260408083203384529091529020555b505050565b6001600160a01b0382165f9081526004602052604090205460ff1615610c91576040516375e91ce760e01b81526001600160a01b03831660048201526024015b60405180910390fd5b610c43838383610f73565b805f5f828254610cac919061144b565b90915550506001600160a01b0382165f9081526001602052604081208054839290610cd890849061144b565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b7f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0811115610d6257604051638baa579f60e01b815260040160405180910390fd5b5f610d6b61057a565b6040517f1901000000000000000000000000000000000000000000000000000000000000602082015260228101919091526042810186905260620160408051601f1981840301815282825280516020918201205f80855291840180845281905260ff88169284019290925260608301869052608083018590529092509060019060a0016020604051602081039080840390855afa158015610e0e573d5f5f3e3d5ffd5b5050604051601f1901519150506001600160a01b0381161580610e435750866001600160a01b0316816001600160a01b031614155b15610e6157604051638baa579f60e01b815260040160405180910390fd5b50505050505050565b854211610ea3576040517f3fb4e43f00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b844210610ec357604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0388165f90815260096020908152604080832087845290915290205460ff1615610f0757604051637960de1f60e11b815260040160405180910390fd5b610f148888858585610d21565b6001600160a01b0388165f818152600960209081526040808320888452909152808220805460ff19166001179055518692917f98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a591a35050505050505050565b60035460ff1615610fb0576040517f9e87fac800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526004602052604090205460ff1615610ff4576040516375e91ce760e01b81526001600160a01b0384166004820152602401610c88565b6001600160a01b0383165f90815260016020526040902054811115611045576040517ff4d678b800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f908152600160205260408120805483929061106c908490611438565b90915550506001600160a01b0382165f908152600160205260408120805483929061109890849061144b565b92505081905550816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef83604051610ba391815260200190565b602081525f82518060208401525f5b8181101561111057602081860181015160408684010152016110f3565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b0381168114611145575f5ffd5b919050565b5f5f6040838503121561115b575f5ffd5b6111648361112f565b946020939093013593505050565b5f5f5f60608486031215611184575f5ffd5b61118d8461112f565b925061119b6020850161112f565b929592945050506040919091013590565b5f602082840312156111bc575f5ffd5b6111c58261112f565b9392505050565b803560ff81168114611145575f5ffd5b5f5f5f5f5f60a086880312156111f0575f5ffd5b6111f98661112f565b94506020860135935061120e604087016111cc565b94979396509394606081013594506080013592915050565b5f5f5f5f5f5f5f60e0888a03121561123c575f5ffd5b6112458861112f565b96506112536020890161112f565b9550604088013594506060880135935061126f608089016111cc565b9699959850939692959460a0840135945060c09093013592915050565b5f5f6040838503121561129d575f5ffd5b6112a68361112f565b91506112b46020840161112f565b90509250929050565b5f5f5f5f5f5f5f5f5f6101208a8c0312156112d6575f5ffd5b6112df8a61112f565b98506112ed60208b0161112f565b975060408a0135965060608a0135955060808a0135945060a08a0135935061131760c08b016111cc565b989b979a50959894979396929550929360e081013593506101000135919050565b600181811c9082168061134c57607f821691505b60208210810361136a57634e487b7160e01b5f52602260045260245ffd5b50919050565b5f5f83545f8160011c9050600182168061138b57607f821691505b6020821081036113a957634e487b7160e01b5f52602260045260245ffd5b8080156113bd57600181146113d257611400565b60ff1984168752821515830287019450611400565b5f888152602090205f5b848110156113f8578154898201526001909101906020016113dc565b505082870194505b50929695505050505050565b634e487b7160e01b5f52601160045260245ffd5b5f600182016114315761143161140c565b5060010190565b818103818111156105545761055461140c565b808201808211156105545761055461140c56",
  "deployed": {
    "bytecode": "0x608060405234801561000f575f5ffd5b50600436106101c6575f3560e01c806370a08231116100fe578063a9059cbb1161009e578063e3ee160e1161006e578063e3ee160e1461043a578063e58398361461044d578063e94a010214610478578063ef55bec6146104a5575f5ffd5b8063a9059cbb146103c3578063d505accf146103d6578063d9169487146103e9578063dd62ed3e14610410575f5ffd5b80638456cb59116100d95780638456cb59146103795780638d1fdf2f1461038157806395d89b4114610394578063a0cc6a681461039c575f5ffd5b806370a08231146103145780637ecebe00146103335780637f2eecc314610352575f5ffd5b80633644e5151161016957806345c8b1a61161014457806345c8b1a6146102d957806354fd4d50146102ec5780635a049a70146102f45780635c975abb14610307575f5ffd5b80633644e515146102b45780633f4ba83a146102bc57806340c10f19146102c6575f5ffd5b806318160ddd116101a457806318160ddd1461024a57806323b872dd1461026057806330adf81f14610273578063313ce5671461029a575f5ffd5b806306fdde03146101ca57806307546172146101e8578063095ea7b314610227575b5f5ffd5b6101d26104b8565b6040516101df91906110e4565b60405180910390f35b61020f7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b0390911681526020016101df565b61023a61023536600461114a565b610544565b60405190151581526020016101df565b6102525f5481565b6040519081526020016101df565b61023a61026e366004611172565b61055a565b6102527f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c981565b6102a2600681565b60405160ff90911681526020016101df565b61025261057a565b6102c461060c565b005b6102c46102d436600461114a565b610661565b6102c46102e73660046111ac565b6106b8565b6101d2610721565b6102c46103023660046111dc565b61072e565b60035461023a9060ff1681565b6102526103223660046111ac565b60016020525f908152604090205481565b6102526103413660046111ac565b60086020525f908152604090205481565b6102527fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de881565b6102c4610837565b6102c461038f3660046111ac565b61088f565b6101d26108fb565b6102527f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a226781565b61023a6103d136600461114a565b610908565b6102c46103e4366004611226565b610914565b6102527f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742981565b61025261041e36600461128c565b600260209081525f928352604080842090915290825290205481565b6102c46104483660046112bd565b6109f7565b61023a61045b3660046111ac565b6001600160a01b03165f9081526004602052604090205460ff1690565b61023a61048636600461114a565b600960209081525f928352604080842090915290825290205460ff1681565b6102c46104b33660046112bd565b610aa0565b600580546104c590611338565b80601f01602080910402602001604051908101604052809291908181526020018280546104f190611338565b801561053c5780601f106105135761010080835404028352916020019161053c565b820191905f5260205f20905b81548152906001019060200180831161051f57829003601f168201915b505050505081565b5f610550338484610b4f565b5060015b92915050565b5f6105658483610bb0565b610570848484610c48565b5060019392505050565b5f7f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60056040516105ab9190611370565b604051809103902060076040516105c29190611370565b60408051918290038220602083019490945281019190915260608101919091524660808201523060a082015260c00160405160208183030381529060405280519060200120905090565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461065557604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19169055565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146106aa57604051633e34a41b60e21b815260040160405180910390fd5b6106b48282610c9c565b5050565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461070157604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19169055565b600780546104c590611338565b6001600160a01b0385165f90815260096020908152604080832087845290915290205460ff161561077257604051637960de1f60e11b815260040160405180910390fd5b604080517f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742960208201526001600160a01b03871691810191909152606081018590526107db90869060800160405160208183030381529060405280519060200120858585610d21565b6001600160a01b0385165f818152600960209081526040808320888452909152808220805460ff19166001179055518692917f1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d8191a35050505050565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461088057604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19166001179055565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146108d857604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19166001179055565b600680546104c590611338565b5f610550338484610c48565b8342111561093557604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0387165f90815260086020526040812080547f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9918a918a918a91908661098183611420565b909155506040805160208101969096526001600160a01b0394851690860152929091166060840152608083015260a082015260c0810186905260e0016040516020818303038152906040528051906020012090506109e28882868686610d21565b6109ed888888610b4f565b5050505050505050565b604080517f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f90610100015b604051602081830303815290604052805190602001209050610a888b828a8a8a8a8a8a610e6a565b610a938b8b8b610c48565b5050505050505050505050565b6001600160a01b0388163314610ae2576040517f0476d41900000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b604080517fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f9061010001610a60565b6001600160a01b038381165f8181526002602090815260408083209487168084529482529182902085905590518481527f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92591015b60405180910390a3505050565b6001600160a01b0382165f90815260026020908152604080832033845290915290205481811015610c0d576040517f13be252b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f198114610c4357610c1f8282611438565b6001600160a01b0384165f9081526002602090815260408083203384529091529020555b505050565b6001600160a01b0382165f9081526004602052604090205460ff1615610c91576040516375e91ce760e01b81526001600160a01b03831660048201526024015b60405180910390fd5b610c43838383610f73565b805f5f828254610cac919061144b565b90915550506001600160a01b0382165f9081526001602052604081208054839290610cd890849061144b565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b7f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0811115610d6257604051638baa579f60e01b815260040160405180910390fd5b5f610d6b61057a565b6040517f1901000000000000000000000000000000000000000000000000000000000000602082015260228101919091526042810186905260620160408051601f1981840301815282825280516020918201205f80855291840180845281905260ff88169284019290925260608301869052608083018590529092509060019060a0016020604051602081039080840390855afa158015610e0e573d5f5f3e3d5ffd5b5050604051601f1901519150506001600160a01b0381161580610e435750866001600160a01b0316816001600160a01b031614155b15610e6157604051638baa579f60e01b815260040160405180910390fd5b50505050505050565b854211610ea3576040517f3fb4e43f00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b844210610ec357604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0388165f90815260096020908152604080832087845290915290205460ff1615610f0757604051637960de1f60e11b815260040160405180910390fd5b610f148888858585610d21565b6001600160a01b0388165f818152600960209081526040808320888452909152808220805460ff19166001179055518692917f98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a591a35050505050505050565b60035460ff1615610fb0576040517f9e87fac800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526004602052604090205460ff1615610ff4576040516375e91ce760e01b81526001600160a01b0384166004820152602401610c88565b6001600160a01b0383165f90815260016020526040902054811115611045576040517ff4d678b800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f908152600160205260408120805483929061106c908490611438565b90915550506001600160a01b0382165f908152600160205260408120805483929061109890849061144b565b92505081905550816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef83604051610ba391815260200190565b602081525f82518060208401525f5b8181101561111057602081860181015160408684010152016110f3565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b0381168114611145575f5ffd5b919050565b5f5f6040838503121561115b575f5ffd5b6111648361112f565b946020939093013593505050565b5f5f5f60608486031215611184575f5ffd5b61118d8461112f565b925061119b6020850161112f565b929592945050506040919091013590565b5f602082840312156111bc575f5ffd5b6111c58261112f565b9392505050565b803560ff81168114611145575f5ffd5b5f5f5f5f5f60a086880312156111f0575f5ffd5b6111f98661112f565b94506020860135935061120e604087016111cc565b94979396509394606081013594506080013592915050565b5f5f5f5f5f5f5f60e0888a03121561123c575f5ffd5b6112458861112f565b96506112536020890161112f565b9550604088013594506060880135935061126f608089016111cc565b9699959850939692959460a0840135945060c09093013592915050565b5f5f6040838503121561129d575f5ffd5b6112a68361112f565b91506112b46020840161112f565b90509250929050565b5f5f5f5f5f5f5f5f5f6101208a8c0312156112d6575f5ffd5b6112df8a61112f565b98506112ed60208b0161112f565b975060408a0135965060608a0135955060808a0135945060a08a0135935061131760c08b016111cc565b989b979a50959894979396929550929360e081013593506101000135919050565b600181811c9082168061134c57607f821691505b60208210810361136a57634e487b7160e01b5f52602260045260245ffd5b50919050565b5f5f83545f8160011c9050600182168061138b57607f821691505b6020821081036113a957634e487b7160e01b5f52602260045260245ffd5b8080156113bd57600181146113d257611400565b60ff1984168752821515830287019450611400565b5f888152602090205f5b848110156113f8578154898201526001909101906020016113dc565b505082870194505b50929695505050505050565b634e487b7160e01b5f52601160045260245ffd5b5f600182016114315761143161140c565b5060010190565b818103818111156105545761055461140c565b808201808211156105545761055461140c56",
    "immutableAt": [
      493,
      1559,
      1644,
      1731,
      2114,
      2202
    ]
  }
} as const

export const TestUSDC = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "minter",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "supply",
          "type": "uint256"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "AuthorizationSpent",
      "type": "error"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "Blocked",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "CallerNotPayee",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "Expired",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientAllowance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientBalance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InvalidSignature",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotMinter",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotYetValid",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "Paused",
      "type": "error"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Approval",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        }
      ],
      "name": "AuthorizationCanceled",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        }
      ],
      "name": "AuthorizationUsed",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Transfer",
      "type": "event"
    },
    {
      "inputs": [],
      "name": "CANCEL_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "DOMAIN_SEPARATOR",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "PERMIT_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "RECEIVE_WITH_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "TRANSFER_WITH_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "allowance",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "approve",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "name": "authorizationState",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "balanceOf",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "blacklist",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "cancelAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "decimals",
      "outputs": [
        {
          "internalType": "uint8",
          "name": "",
          "type": "uint8"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "isBlacklisted",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "mint",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "minter",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "name",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "nonces",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "pause",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "paused",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "deadline",
          "type": "uint256"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "permit",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validAfter",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validBefore",
          "type": "uint256"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "receiveWithAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "symbol",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "totalSupply",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transfer",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transferFrom",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validAfter",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validBefore",
          "type": "uint256"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "transferWithAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "unBlacklist",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "unpause",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "version",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    }
  ],
  "bytecode": "0x60a060405234801561000f575f5ffd5b506040516117a93803806117a983398101604081905261002e91610153565b60408051808201825260088152672aa9a21021b7b4b760c11b6020808301919091528251808401845260048152635553444360e01b81830152835180850190945260018452601960f91b918401919091526001600160a01b0385166080529091848461009a82826100ce565b50600590506100a9848261022d565b5060066100b6838261022d565b5060076100c3828261022d565b505050505050610310565b805f5f8282546100de91906102eb565b90915550506001600160a01b0382165f908152600160205260408120805483929061010a9084906102eb565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b5f5f60408385031215610164575f5ffd5b82516001600160a01b038116811461017a575f5ffd5b6020939093015192949293505050565b634e487b7160e01b5f52604160045260245ffd5b600181811c908216806101b257607f821691505b6020821081036101d057634e487b7160e01b5f52602260045260245ffd5b50919050565b601f821115610228578282111561022857805f5260205f20601f840160051c602085101561020157505f5b90810190601f840160051c035f5b81811015610224575f8382015560010161020f565b5050505b505050565b81516001600160401b038111156102465761024661018a565b61025a81610254845461019e565b846101d6565b6020601f82116001811461028c575f83156102755750848201515b5f19600385901b1c1916600184901b1784556102e4565b5f84815260208120601f198516915b828110156102bb578785015182556020948501946001909201910161029b565b50848210156102d857868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b8082018082111561030a57634e487b7160e01b5f52601160045260245ffd5b92915050565b60805161145e61034b5f395f81816101ed0152818161056501528181610680015281816106d5015281816108420152610aee015261145e5ff3fe608060405234801561000f575f5ffd5b50600436106101c6575f3560e01c806370a08231116100fe578063d505accf1161009e578063e94a01021161006e578063e94a01021461043a578063ef55bec614610467578063f9f92be41461047a578063fe575a871461048d575f5ffd5b8063d505accf146103c3578063d9169487146103d6578063dd62ed3e146103fd578063e3ee160e14610427575f5ffd5b80638456cb59116100d95780638456cb591461037957806395d89b4114610381578063a0cc6a6814610389578063a9059cbb146103b0575f5ffd5b806370a08231146103145780637ecebe00146103335780637f2eecc314610352575f5ffd5b8063313ce5671161016957806340c10f191161014457806340c10f19146102d957806354fd4d50146102ec5780635a049a70146102f45780635c975abb14610307575f5ffd5b8063313ce567146102af5780633644e515146102c95780633f4ba83a146102d1575f5ffd5b806318160ddd116101a457806318160ddd1461024a5780631a8952661461026057806323b872dd1461027557806330adf81f14610288575f5ffd5b806306fdde03146101ca57806307546172146101e8578063095ea7b314610227575b5f5ffd5b6101d26104b8565b6040516101df91906110e4565b60405180910390f35b61020f7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b0390911681526020016101df565b61023a61023536600461114a565b610544565b60405190151581526020016101df565b6102525f5481565b6040519081526020016101df565b61027361026e366004611172565b61055a565b005b61023a610283366004611192565b6105c3565b6102527f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c981565b6102b7600681565b60405160ff90911681526020016101df565b6102526105e3565b610273610675565b6102736102e736600461114a565b6106ca565b6101d2610721565b6102736103023660046111dc565b61072e565b60035461023a9060ff1681565b610252610322366004611172565b60016020525f908152604090205481565b610252610341366004611172565b60086020525f908152604090205481565b6102527fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de881565b610273610837565b6101d261088f565b6102527f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a226781565b61023a6103be36600461114a565b61089c565b6102736103d1366004611226565b6108a8565b6102527f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742981565b61025261040b36600461128c565b600260209081525f928352604080842090915290825290205481565b6102736104353660046112bd565b61098b565b61023a61044836600461114a565b600960209081525f928352604080842090915290825290205460ff1681565b6102736104753660046112bd565b610a34565b610273610488366004611172565b610ae3565b61023a61049b366004611172565b6001600160a01b03165f9081526004602052604090205460ff1690565b600580546104c590611338565b80601f01602080910402602001604051908101604052809291908181526020018280546104f190611338565b801561053c5780601f106105135761010080835404028352916020019161053c565b820191905f5260205f20905b81548152906001019060200180831161051f57829003601f168201915b505050505081565b5f610550338484610b4f565b5060015b92915050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146105a357604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19169055565b5f6105ce8483610bb0565b6105d9848484610c48565b5060019392505050565b5f7f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60056040516106149190611370565b6040518091039020600760405161062b9190611370565b60408051918290038220602083019490945281019190915260608101919091524660808201523060a082015260c00160405160208183030381529060405280519060200120905090565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146106be57604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19169055565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461071357604051633e34a41b60e21b815260040160405180910390fd5b61071d8282610c9c565b5050565b600780546104c590611338565b6001600160a01b0385165f90815260096020908152604080832087845290915290205460ff161561077257604051637960de1f60e11b815260040160405180910390fd5b604080517f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742960208201526001600160a01b03871691810191909152606081018590526107db90869060800160405160208183030381529060405280519060200120858585610d21565b6001600160a01b0385165f818152600960209081526040808320888452909152808220805460ff19166001179055518692917f1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d8191a35050505050565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461088057604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19166001179055565b600680546104c590611338565b5f610550338484610c48565b834211156108c957604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0387165f90815260086020526040812080547f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9918a918a918a91908661091583611420565b909155506040805160208101969096526001600160a01b0394851690860152929091166060840152608083015260a082015260c0810186905260e0016040516020818303038152906040528051906020012090506109768882868686610d21565b610981888888610b4f565b5050505050505050565b604080517f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f90610100015b604051602081830303815290604052805190602001209050610a1c8b828a8a8a8a8a8a610e6a565b610a278b8b8b610c48565b5050505050505050505050565b6001600160a01b0388163314610a76576040517f0476d41900000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b604080517fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f90610100016109f4565b336001600160a01b037f00000000000000000000000000000000000000000000000000000000000000001614610b2c57604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19166001179055565b6001600160a01b038381165f8181526002602090815260408083209487168084529482529182902085905590518481527f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92591015b60405180910390a3505050565b6001600160a01b0382165f90815260026020908152604080832033845290915290205481811015610c0d576040517f13be252b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f198114610c4357610c1f8282611438565b6001600160a01b0384165f9081526002602090815260408083203384529091529020555b505050565b6001600160a01b0382165f9081526004602052604090205460ff1615610c91576040516375e91ce760e01b81526001600160a01b03831660048201526024015b60405180910390fd5b610c43838383610f73565b805f5f828254610cac919061144b565b90915550506001600160a01b0382165f9081526001602052604081208054839290610cd890849061144b565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b7f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0811115610d6257604051638baa579f60e01b815260040160405180910390fd5b5f610d6b6105e3565b6040517f1901000000000000000000000000000000000000000000000000000000000000602082015260228101919091526042810186905260620160408051601f1981840301815282825280516020918201205f80855291840180845281905260ff88169284019290925260608301869052608083018590529092509060019060a0016020604051602081039080840390855afa158015610e0e573d5f5f3e3d5ffd5b5050604051601f1901519150506001600160a01b0381161580610e435750866001600160a01b0316816001600160a01b031614155b15610e6157604051638baa579f60e01b815260040160405180910390fd5b50505050505050565b854211610ea3576040517f3fb4e43f00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b844210610ec357604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0388165f90815260096020908152604080832087845290915290205460ff1615610f0757604051637960de1f60e11b815260040160405180910390fd5b610f148888858585610d21565b6001600160a01b0388165f818152600960209081526040808320888452909152808220805460ff19166001179055518692917f98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a591a35050505050505050565b60035460ff1615610fb0576040517f9e87fac800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526004602052604090205460ff1615610ff4576040516375e91ce760e01b81526001600160a01b0384166004820152602401610c88565b6001600160a01b0383165f90815260016020526040902054811115611045576040517ff4d678b800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f908152600160205260408120805483929061106c908490611438565b90915550506001600160a01b0382165f908152600160205260408120805483929061109890849061144b565b92505081905550816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef83604051610ba391815260200190565b602081525f82518060208401525f5b8181101561111057602081860181015160408684010152016110f3565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b0381168114611145575f5ffd5b919050565b5f5f6040838503121561115b575f5ffd5b6111648361112f565b946020939093013593505050565b5f60208284031215611182575f5ffd5b61118b8261112f565b9392505050565b5f5f5f606084860312156111a4575f5ffd5b6111ad8461112f565b92506111bb6020850161112f565b929592945050506040919091013590565b803560ff81168114611145575f5ffd5b5f5f5f5f5f60a086880312156111f0575f5ffd5b6111f98661112f565b94506020860135935061120e604087016111cc565b94979396509394606081013594506080013592915050565b5f5f5f5f5f5f5f60e0888a03121561123c575f5ffd5b6112458861112f565b96506112536020890161112f565b9550604088013594506060880135935061126f608089016111cc565b9699959850939692959460a0840135945060c09093013592915050565b5f5f6040838503121561129d575f5ffd5b6112a68361112f565b91506112b46020840161112f565b90509250929050565b5f5f5f5f5f5f5f5f5f6101208a8c0312156112d6575f5ffd5b6112df8a61112f565b98506112ed60208b0161112f565b975060408a0135965060608a0135955060808a0135945060a08a0135935061131760c08b016111cc565b989b979a50959894979396929550929360e081013593506101000135919050565b600181811c9082168061134c57607f821691505b60208210810361136a57634e487b7160e01b5f52602260045260245ffd5b50919050565b5f5f83545f8160011c9050600182168061138b57607f821691505b6020821081036113a957634e487b7160e01b5f52602260045260245ffd5b8080156113bd57600181146113d257611400565b60ff1984168752821515830287019450611400565b5f888152602090205f5b848110156113f8578154898201526001909101906020016113dc565b505082870194505b50929695505050505050565b634e487b7160e01b5f52601160045260245ffd5b5f600182016114315761143161140c565b5060010190565b818103818111156105545761055461140c565b808201808211156105545761055461140c56",
  "deployed": {
    "bytecode": "0x608060405234801561000f575f5ffd5b50600436106101c6575f3560e01c806370a08231116100fe578063d505accf1161009e578063e94a01021161006e578063e94a01021461043a578063ef55bec614610467578063f9f92be41461047a578063fe575a871461048d575f5ffd5b8063d505accf146103c3578063d9169487146103d6578063dd62ed3e146103fd578063e3ee160e14610427575f5ffd5b80638456cb59116100d95780638456cb591461037957806395d89b4114610381578063a0cc6a6814610389578063a9059cbb146103b0575f5ffd5b806370a08231146103145780637ecebe00146103335780637f2eecc314610352575f5ffd5b8063313ce5671161016957806340c10f191161014457806340c10f19146102d957806354fd4d50146102ec5780635a049a70146102f45780635c975abb14610307575f5ffd5b8063313ce567146102af5780633644e515146102c95780633f4ba83a146102d1575f5ffd5b806318160ddd116101a457806318160ddd1461024a5780631a8952661461026057806323b872dd1461027557806330adf81f14610288575f5ffd5b806306fdde03146101ca57806307546172146101e8578063095ea7b314610227575b5f5ffd5b6101d26104b8565b6040516101df91906110e4565b60405180910390f35b61020f7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b0390911681526020016101df565b61023a61023536600461114a565b610544565b60405190151581526020016101df565b6102525f5481565b6040519081526020016101df565b61027361026e366004611172565b61055a565b005b61023a610283366004611192565b6105c3565b6102527f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c981565b6102b7600681565b60405160ff90911681526020016101df565b6102526105e3565b610273610675565b6102736102e736600461114a565b6106ca565b6101d2610721565b6102736103023660046111dc565b61072e565b60035461023a9060ff1681565b610252610322366004611172565b60016020525f908152604090205481565b610252610341366004611172565b60086020525f908152604090205481565b6102527fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de881565b610273610837565b6101d261088f565b6102527f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a226781565b61023a6103be36600461114a565b61089c565b6102736103d1366004611226565b6108a8565b6102527f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742981565b61025261040b36600461128c565b600260209081525f928352604080842090915290825290205481565b6102736104353660046112bd565b61098b565b61023a61044836600461114a565b600960209081525f928352604080842090915290825290205460ff1681565b6102736104753660046112bd565b610a34565b610273610488366004611172565b610ae3565b61023a61049b366004611172565b6001600160a01b03165f9081526004602052604090205460ff1690565b600580546104c590611338565b80601f01602080910402602001604051908101604052809291908181526020018280546104f190611338565b801561053c5780601f106105135761010080835404028352916020019161053c565b820191905f5260205f20905b81548152906001019060200180831161051f57829003601f168201915b505050505081565b5f610550338484610b4f565b5060015b92915050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146105a357604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19169055565b5f6105ce8483610bb0565b6105d9848484610c48565b5060019392505050565b5f7f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60056040516106149190611370565b6040518091039020600760405161062b9190611370565b60408051918290038220602083019490945281019190915260608101919091524660808201523060a082015260c00160405160208183030381529060405280519060200120905090565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146106be57604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19169055565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461071357604051633e34a41b60e21b815260040160405180910390fd5b61071d8282610c9c565b5050565b600780546104c590611338565b6001600160a01b0385165f90815260096020908152604080832087845290915290205460ff161561077257604051637960de1f60e11b815260040160405180910390fd5b604080517f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742960208201526001600160a01b03871691810191909152606081018590526107db90869060800160405160208183030381529060405280519060200120858585610d21565b6001600160a01b0385165f818152600960209081526040808320888452909152808220805460ff19166001179055518692917f1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d8191a35050505050565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461088057604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19166001179055565b600680546104c590611338565b5f610550338484610c48565b834211156108c957604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0387165f90815260086020526040812080547f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9918a918a918a91908661091583611420565b909155506040805160208101969096526001600160a01b0394851690860152929091166060840152608083015260a082015260c0810186905260e0016040516020818303038152906040528051906020012090506109768882868686610d21565b610981888888610b4f565b5050505050505050565b604080517f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f90610100015b604051602081830303815290604052805190602001209050610a1c8b828a8a8a8a8a8a610e6a565b610a278b8b8b610c48565b5050505050505050505050565b6001600160a01b0388163314610a76576040517f0476d41900000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b604080517fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f90610100016109f4565b336001600160a01b037f00000000000000000000000000000000000000000000000000000000000000001614610b2c57604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19166001179055565b6001600160a01b038381165f8181526002602090815260408083209487168084529482529182902085905590518481527f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92591015b60405180910390a3505050565b6001600160a01b0382165f90815260026020908152604080832033845290915290205481811015610c0d576040517f13be252b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f198114610c4357610c1f8282611438565b6001600160a01b0384165f9081526002602090815260408083203384529091529020555b505050565b6001600160a01b0382165f9081526004602052604090205460ff1615610c91576040516375e91ce760e01b81526001600160a01b03831660048201526024015b60405180910390fd5b610c43838383610f73565b805f5f828254610cac919061144b565b90915550506001600160a01b0382165f9081526001602052604081208054839290610cd890849061144b565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b7f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0811115610d6257604051638baa579f60e01b815260040160405180910390fd5b5f610d6b6105e3565b6040517f1901000000000000000000000000000000000000000000000000000000000000602082015260228101919091526042810186905260620160408051601f1981840301815282825280516020918201205f80855291840180845281905260ff88169284019290925260608301869052608083018590529092509060019060a0016020604051602081039080840390855afa158015610e0e573d5f5f3e3d5ffd5b5050604051601f1901519150506001600160a01b0381161580610e435750866001600160a01b0316816001600160a01b031614155b15610e6157604051638baa579f60e01b815260040160405180910390fd5b50505050505050565b854211610ea3576040517f3fb4e43f00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b844210610ec357604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0388165f90815260096020908152604080832087845290915290205460ff1615610f0757604051637960de1f60e11b815260040160405180910390fd5b610f148888858585610d21565b6001600160a01b0388165f818152600960209081526040808320888452909152808220805460ff19166001179055518692917f98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a591a35050505050505050565b60035460ff1615610fb0576040517f9e87fac800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526004602052604090205460ff1615610ff4576040516375e91ce760e01b81526001600160a01b0384166004820152602401610c88565b6001600160a01b0383165f90815260016020526040902054811115611045576040517ff4d678b800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f908152600160205260408120805483929061106c908490611438565b90915550506001600160a01b0382165f908152600160205260408120805483929061109890849061144b565b92505081905550816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef83604051610ba391815260200190565b602081525f82518060208401525f5b8181101561111057602081860181015160408684010152016110f3565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b0381168114611145575f5ffd5b919050565b5f5f6040838503121561115b575f5ffd5b6111648361112f565b946020939093013593505050565b5f60208284031215611182575f5ffd5b61118b8261112f565b9392505050565b5f5f5f606084860312156111a4575f5ffd5b6111ad8461112f565b92506111bb6020850161112f565b929592945050506040919091013590565b803560ff81168114611145575f5ffd5b5f5f5f5f5f60a086880312156111f0575f5ffd5b6111f98661112f565b94506020860135935061120e604087016111cc565b94979396509394606081013594506080013592915050565b5f5f5f5f5f5f5f60e0888a03121561123c575f5ffd5b6112458861112f565b96506112536020890161112f565b9550604088013594506060880135935061126f608089016111cc565b9699959850939692959460a0840135945060c09093013592915050565b5f5f6040838503121561129d575f5ffd5b6112a68361112f565b91506112b46020840161112f565b90509250929050565b5f5f5f5f5f5f5f5f5f6101208a8c0312156112d6575f5ffd5b6112df8a61112f565b98506112ed60208b0161112f565b975060408a0135965060608a0135955060808a0135945060a08a0135935061131760c08b016111cc565b989b979a50959894979396929550929360e081013593506101000135919050565b600181811c9082168061134c57607f821691505b60208210810361136a57634e487b7160e01b5f52602260045260245ffd5b50919050565b5f5f83545f8160011c9050600182168061138b57607f821691505b6020821081036113a957634e487b7160e01b5f52602260045260245ffd5b8080156113bd57600181146113d257611400565b60ff1984168752821515830287019450611400565b5f888152602090205f5b848110156113f8578154898201526001909101906020016113dc565b505082870194505b50929695505050505050565b634e487b7160e01b5f52601160045260245ffd5b5f600182016114315761143161140c565b5060010190565b818103818111156105545761055461140c565b808201808211156105545761055461140c56",
    "immutableAt": [
      493,
      1381,
      1664,
      1749,
      2114,
      2798
    ]
  }
} as const

export const TestUSDT = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "minter",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "supply",
          "type": "uint256"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "AllowanceNotZero",
      "type": "error"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "Blocked",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "FeeTooHigh",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientAllowance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientBalance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotMinter",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "Paused",
      "type": "error"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Approval",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Transfer",
      "type": "event"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "addBlackList",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "allowance",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "approve",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "balanceOf",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "basisPointsRate",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "decimals",
      "outputs": [
        {
          "internalType": "uint8",
          "name": "",
          "type": "uint8"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "isBlackListed",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "mint",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "minter",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "name",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "pause",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "paused",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "account",
          "type": "address"
        }
      ],
      "name": "removeBlackList",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "uint256",
          "name": "basisPoints",
          "type": "uint256"
        }
      ],
      "name": "setFee",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "symbol",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "totalSupply",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transfer",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transferFrom",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "unpause",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    }
  ],
  "bytecode": "0x60a060405234801561000f575f5ffd5b50604051610d08380380610d0883398101604081905261002e916100d5565b6001600160a01b03821660805281816100478282610050565b50505050610131565b805f5f828254610060919061010c565b90915550506001600160a01b0382165f908152600160205260408120805483929061008c90849061010c565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b5f5f604083850312156100e6575f5ffd5b82516001600160a01b03811681146100fc575f5ffd5b6020939093015192949293505050565b8082018082111561012b57634e487b7160e01b5f52601160045260245ffd5b92915050565b608051610b8e61017a5f395f81816101a4015281816103fc01528181610482015281816104d70152818161052a015281816105b30152818161061601526107aa0152610b8e5ff3fe608060405234801561000f575f5ffd5b5060043610610149575f3560e01c80635c975abb116100c7578063a9059cbb1161007d578063dd644f7211610063578063dd644f7214610334578063e47d60601461033d578063e4997dc514610368575f5ffd5b8063a9059cbb146102f7578063dd62ed3e1461030a575f5ffd5b806370a08231116100ad57806370a08231146102945780638456cb59146102b357806395d89b41146102bb575f5ffd5b80635c975abb1461026457806369fe0e2d14610281575f5ffd5b806318160ddd1161011c578063313ce56711610102578063313ce5671461022f5780633f4ba83a1461024957806340c10f1914610251575f5ffd5b806318160ddd1461020657806323b872dd1461021c575f5ffd5b806306fdde031461014d578063075461721461019f578063095ea7b3146101de5780630ecb93c0146101f3575b5f5ffd5b6101896040518060400160405280600a81526020017f546574686572205553440000000000000000000000000000000000000000000081525081565b60405161019691906109e8565b60405180910390f35b6101c67f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b039091168152602001610196565b6101f16101ec366004610a4e565b61037b565b005b6101f1610201366004610a76565b6103f1565b61020e5f5481565b604051908152602001610196565b6101f161022a366004610a96565b61045d565b610237600681565b60405160ff9091168152602001610196565b6101f1610477565b6101f161025f366004610a4e565b6104cc565b6003546102719060ff1681565b6040519015158152602001610196565b6101f161028f366004610ad0565b61051f565b61020e6102a2366004610a76565b60016020525f908152604090205481565b6101f16105a8565b6101896040518060400160405280600481526020017f555344540000000000000000000000000000000000000000000000000000000081525081565b6101f1610305366004610a4e565b610600565b61020e610318366004610ae7565b600260209081525f928352604080842090915290825290205481565b61020e60055481565b61027161034b366004610a76565b6001600160a01b03165f9081526004602052604090205460ff1690565b6101f1610376366004610a76565b61060b565b80158015906103ab5750335f9081526002602090815260408083206001600160a01b038616845290915290205415155b156103e2576040517fe953bbb800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6103ed338383610674565b5050565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461043a57604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19166001179055565b61046783826106d5565b61047283838361076c565b505050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146104c057604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19169055565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461051557604051633e34a41b60e21b815260040160405180910390fd5b6103ed82826107d5565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461056857604051633e34a41b60e21b815260040160405180910390fd5b60148111156105a3576040517fcd4e616700000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600555565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146105f157604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19166001179055565b6103ed33838361076c565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461065457604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19169055565b6001600160a01b038381165f8181526002602090815260408083209487168084529482529182902085905590518481527f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92591015b60405180910390a3505050565b6001600160a01b0382165f90815260026020908152604080832033845290915290205481811015610732576040517f13be252b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f198114610472576107448282610b2c565b6001600160a01b0384165f908152600260209081526040808320338452909152902055505050565b5f6127106005548361077e9190610b45565b6107889190610b5c565b905061079e84846107998486610b2c565b61085a565b80156107cf576107cf847f00000000000000000000000000000000000000000000000000000000000000008361085a565b50505050565b805f5f8282546107e59190610b7b565b90915550506001600160a01b0382165f9081526001602052604081208054839290610811908490610b7b565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b60035460ff1615610897576040517f9e87fac800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526004602052604090205460ff16156108f8576040517f75e91ce70000000000000000000000000000000000000000000000000000000081526001600160a01b038416600482015260240160405180910390fd5b6001600160a01b0383165f90815260016020526040902054811115610949576040517ff4d678b800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526001602052604081208054839290610970908490610b2c565b90915550506001600160a01b0382165f908152600160205260408120805483929061099c908490610b7b565b92505081905550816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef836040516106c891815260200190565b602081525f82518060208401525f5b81811015610a1457602081860181015160408684010152016109f7565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b0381168114610a49575f5ffd5b919050565b5f5f60408385031215610a5f575f5ffd5b610a6883610a33565b946020939093013593505050565b5f60208284031215610a86575f5ffd5b610a8f82610a33565b9392505050565b5f5f5f60608486031215610aa8575f5ffd5b610ab184610a33565b9250610abf60208501610a33565b929592945050506040919091013590565b5f60208284031215610ae0575f5ffd5b5035919050565b5f5f60408385031215610af8575f5ffd5b610b0183610a33565b9150610b0f60208401610a33565b90509250929050565b634e487b7160e01b5f52601160045260245ffd5b81810381811115610b3f57610b3f610b18565b92915050565b8082028115828204841417610b3f57610b3f610b18565b5f82610b7657634e487b7160e01b5f52601260045260245ffd5b500490565b80820180821115610b3f57610b3f610b1856",
  "deployed": {
    "bytecode": "0x608060405234801561000f575f5ffd5b5060043610610149575f3560e01c80635c975abb116100c7578063a9059cbb1161007d578063dd644f7211610063578063dd644f7214610334578063e47d60601461033d578063e4997dc514610368575f5ffd5b8063a9059cbb146102f7578063dd62ed3e1461030a575f5ffd5b806370a08231116100ad57806370a08231146102945780638456cb59146102b357806395d89b41146102bb575f5ffd5b80635c975abb1461026457806369fe0e2d14610281575f5ffd5b806318160ddd1161011c578063313ce56711610102578063313ce5671461022f5780633f4ba83a1461024957806340c10f1914610251575f5ffd5b806318160ddd1461020657806323b872dd1461021c575f5ffd5b806306fdde031461014d578063075461721461019f578063095ea7b3146101de5780630ecb93c0146101f3575b5f5ffd5b6101896040518060400160405280600a81526020017f546574686572205553440000000000000000000000000000000000000000000081525081565b60405161019691906109e8565b60405180910390f35b6101c67f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b039091168152602001610196565b6101f16101ec366004610a4e565b61037b565b005b6101f1610201366004610a76565b6103f1565b61020e5f5481565b604051908152602001610196565b6101f161022a366004610a96565b61045d565b610237600681565b60405160ff9091168152602001610196565b6101f1610477565b6101f161025f366004610a4e565b6104cc565b6003546102719060ff1681565b6040519015158152602001610196565b6101f161028f366004610ad0565b61051f565b61020e6102a2366004610a76565b60016020525f908152604090205481565b6101f16105a8565b6101896040518060400160405280600481526020017f555344540000000000000000000000000000000000000000000000000000000081525081565b6101f1610305366004610a4e565b610600565b61020e610318366004610ae7565b600260209081525f928352604080842090915290825290205481565b61020e60055481565b61027161034b366004610a76565b6001600160a01b03165f9081526004602052604090205460ff1690565b6101f1610376366004610a76565b61060b565b80158015906103ab5750335f9081526002602090815260408083206001600160a01b038616845290915290205415155b156103e2576040517fe953bbb800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6103ed338383610674565b5050565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461043a57604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19166001179055565b61046783826106d5565b61047283838361076c565b505050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146104c057604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19169055565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461051557604051633e34a41b60e21b815260040160405180910390fd5b6103ed82826107d5565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461056857604051633e34a41b60e21b815260040160405180910390fd5b60148111156105a3576040517fcd4e616700000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600555565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146105f157604051633e34a41b60e21b815260040160405180910390fd5b6003805460ff19166001179055565b6103ed33838361076c565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461065457604051633e34a41b60e21b815260040160405180910390fd5b6001600160a01b03165f908152600460205260409020805460ff19169055565b6001600160a01b038381165f8181526002602090815260408083209487168084529482529182902085905590518481527f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92591015b60405180910390a3505050565b6001600160a01b0382165f90815260026020908152604080832033845290915290205481811015610732576040517f13be252b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f198114610472576107448282610b2c565b6001600160a01b0384165f908152600260209081526040808320338452909152902055505050565b5f6127106005548361077e9190610b45565b6107889190610b5c565b905061079e84846107998486610b2c565b61085a565b80156107cf576107cf847f00000000000000000000000000000000000000000000000000000000000000008361085a565b50505050565b805f5f8282546107e59190610b7b565b90915550506001600160a01b0382165f9081526001602052604081208054839290610811908490610b7b565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b60035460ff1615610897576040517f9e87fac800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526004602052604090205460ff16156108f8576040517f75e91ce70000000000000000000000000000000000000000000000000000000081526001600160a01b038416600482015260240160405180910390fd5b6001600160a01b0383165f90815260016020526040902054811115610949576040517ff4d678b800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526001602052604081208054839290610970908490610b2c565b90915550506001600160a01b0382165f908152600160205260408120805483929061099c908490610b7b565b92505081905550816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef836040516106c891815260200190565b602081525f82518060208401525f5b81811015610a1457602081860181015160408684010152016109f7565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b0381168114610a49575f5ffd5b919050565b5f5f60408385031215610a5f575f5ffd5b610a6883610a33565b946020939093013593505050565b5f60208284031215610a86575f5ffd5b610a8f82610a33565b9392505050565b5f5f5f60608486031215610aa8575f5ffd5b610ab184610a33565b9250610abf60208501610a33565b929592945050506040919091013590565b5f60208284031215610ae0575f5ffd5b5035919050565b5f5f60408385031215610af8575f5ffd5b610b0183610a33565b9150610b0f60208401610a33565b90509250929050565b634e487b7160e01b5f52601160045260245ffd5b81810381811115610b3f57610b3f610b18565b92915050565b8082028115828204841417610b3f57610b3f610b18565b5f82610b7657634e487b7160e01b5f52601260045260245ffd5b500490565b80820180821115610b3f57610b3f610b1856",
    "immutableAt": [
      420,
      1020,
      1154,
      1239,
      1322,
      1459,
      1558,
      1962
    ]
  }
} as const

export const OwnedWallet = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "owner_",
          "type": "address"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "CallFailed",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotOwner",
      "type": "error"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "bytes",
          "name": "data",
          "type": "bytes"
        }
      ],
      "name": "call",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "hash",
          "type": "bytes32"
        },
        {
          "internalType": "bytes",
          "name": "signature",
          "type": "bytes"
        }
      ],
      "name": "isValidSignature",
      "outputs": [
        {
          "internalType": "bytes4",
          "name": "",
          "type": "bytes4"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "owner",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    }
  ],
  "bytecode": "0x60a0604052348015600e575f5ffd5b50604051610518380380610518833981016040819052602b91603b565b6001600160a01b03166080526066565b5f60208284031215604a575f5ffd5b81516001600160a01b0381168114605f575f5ffd5b9392505050565b60805161048d61008b5f395f818160a601528181610145015261024b015261048d5ff3fe608060405234801561000f575f5ffd5b506004361061003f575f3560e01c80631626ba7e146100435780631b8b921d1461008c5780638da5cb5b146100a1575b5f5ffd5b610056610051366004610381565b6100e0565b6040517fffffffff0000000000000000000000000000000000000000000000000000000090911681526020015b60405180910390f35b61009f61009a3660046103c9565b610240565b005b6100c87f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b039091168152602001610083565b5f6041821461011057507fffffffff00000000000000000000000000000000000000000000000000000000610239565b5f61011e602082858761040c565b61012791610433565b90505f61013860406020868861040c565b61014191610433565b90507f00000000000000000000000000000000000000000000000000000000000000006001600160a01b03166001878787604081811061018357610183610451565b604080515f8152602081018083529590955292013560f81c9183019190915250606081018590526080810184905260a0016020604051602081039080840390855afa1580156101d4573d5f5f3e3d5ffd5b505050602060405103516001600160a01b031614610212577fffffffff00000000000000000000000000000000000000000000000000000000610234565b7f1626ba7e000000000000000000000000000000000000000000000000000000005b925050505b9392505050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146102a2576040517f30cd747100000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f836001600160a01b031683836040516102bd92919061047e565b5f604051808303815f865af19150503d805f81146102f6576040519150601f19603f3d011682016040523d82523d5f602084013e6102fb565b606091505b5050905080610336576040517f3204506f00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b50505050565b5f5f83601f84011261034c575f5ffd5b50813567ffffffffffffffff811115610363575f5ffd5b60208301915083602082850101111561037a575f5ffd5b9250929050565b5f5f5f60408486031215610393575f5ffd5b83359250602084013567ffffffffffffffff8111156103b0575f5ffd5b6103bc8682870161033c565b9497909650939450505050565b5f5f5f604084860312156103db575f5ffd5b83356001600160a01b03811681146103f1575f5ffd5b9250602084013567ffffffffffffffff8111156103b0575f5ffd5b5f5f8585111561041a575f5ffd5b83861115610426575f5ffd5b5050820193919092039150565b8035602083101561044b575f19602084900360031b1b165b92915050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b818382375f910190815291905056",
  "deployed": {
    "bytecode": "0x608060405234801561000f575f5ffd5b506004361061003f575f3560e01c80631626ba7e146100435780631b8b921d1461008c5780638da5cb5b146100a1575b5f5ffd5b610056610051366004610381565b6100e0565b6040517fffffffff0000000000000000000000000000000000000000000000000000000090911681526020015b60405180910390f35b61009f61009a3660046103c9565b610240565b005b6100c87f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b039091168152602001610083565b5f6041821461011057507fffffffff00000000000000000000000000000000000000000000000000000000610239565b5f61011e602082858761040c565b61012791610433565b90505f61013860406020868861040c565b61014191610433565b90507f00000000000000000000000000000000000000000000000000000000000000006001600160a01b03166001878787604081811061018357610183610451565b604080515f8152602081018083529590955292013560f81c9183019190915250606081018590526080810184905260a0016020604051602081039080840390855afa1580156101d4573d5f5f3e3d5ffd5b505050602060405103516001600160a01b031614610212577fffffffff00000000000000000000000000000000000000000000000000000000610234565b7f1626ba7e000000000000000000000000000000000000000000000000000000005b925050505b9392505050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146102a2576040517f30cd747100000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f836001600160a01b031683836040516102bd92919061047e565b5f604051808303815f865af19150503d805f81146102f6576040519150601f19603f3d011682016040523d82523d5f602084013e6102fb565b606091505b5050905080610336576040517f3204506f00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b50505050565b5f5f83601f84011261034c575f5ffd5b50813567ffffffffffffffff811115610363575f5ffd5b60208301915083602082850101111561037a575f5ffd5b9250929050565b5f5f5f60408486031215610393575f5ffd5b83359250602084013567ffffffffffffffff8111156103b0575f5ffd5b6103bc8682870161033c565b9497909650939450505050565b5f5f5f604084860312156103db575f5ffd5b83356001600160a01b03811681146103f1575f5ffd5b9250602084013567ffffffffffffffff8111156103b0575f5ffd5b5f5f8585111561041a575f5ffd5b83861115610426575f5ffd5b5050820193919092039150565b8035602083101561044b575f19602084900360031b1b165b92915050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b818382375f910190815291905056",
    "immutableAt": [
      166,
      325,
      587
    ]
  }
} as const

